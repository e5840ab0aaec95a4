/// The look of all pages. Fonts are the reader's own; nothing is fetched.
enum Stylesheet {
    static var css: Html {
        .sequence([Palette.css] + [base, header, tables, charts, details, narrow, paper].map(Html.verbatim))
    }

    private static let base: StaticString = """
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
        body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
        font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif}
        header,main,footer{max-width:62rem;margin:0 auto;padding:0 1.5rem}
        h1,h2,h3,h4{line-height:1.2;text-wrap:balance;font-weight:650;letter-spacing:-.011em}
        h1{font-size:2.1rem;margin:.15em 0 .3em;letter-spacing:-.022em}
        h2{font-size:1.35rem;margin:0 0 .4em}
        h3{font-size:1.05rem;margin:0 0 .2em}
        h4{font-size:1rem;margin:0 0 .2em}
        p{margin:0 0 .8em;max-width:44rem}
        a{color:var(--link);text-underline-offset:.15em}
        code,.code{font:.9em/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
        code.option{white-space:nowrap}
        bdi,code,td,th,li,dd{unicode-bidi:isolate}
        :focus-visible{outline:2px solid var(--link);outline-offset:3px;border-radius:2px}
        section{border-top:1px solid var(--rule);margin-top:2.75rem;padding-top:1.5rem}
        .muted,.note,figcaption p,footer{color:var(--muted)}
        .note{font-size:.925rem}
        .good{color:var(--good)}
        .bad{color:var(--bad)}
        .unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
        .skip{position:absolute;left:1rem;top:-4rem;background:var(--paper);padding:.5rem .75rem;z-index:2}
        .skip:focus{top:.5rem}

        """

    private static let header: StaticString = """
        body>header{padding-top:3rem}
        .kicker{color:var(--muted);font-size:.875rem;margin:0}
        .lead{font-size:1.08rem;max-width:40rem}
        nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;margin:1.25rem 0 0;padding:0;font-size:.9rem}
        nav a{text-decoration:none}
        nav a:hover{text-decoration:underline}
        .verdict{border:0;border-left:5px solid var(--tone);padding:.2rem 0 .2rem 1.15rem;margin:1.75rem 0 0}
        .verdict h2{font-size:1.5rem;margin:0 0 .15em;letter-spacing:-.015em}
        .verdict p{margin:0}
        .checks{list-style:none;margin:1.25rem 0 0;padding:0;max-width:44rem}
        .checks li{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .75rem;padding:.4rem 0;border-top:1px solid var(--rule)}
        .checks li:last-child{border-bottom:1px solid var(--rule)}
        .checks .measured{margin-left:auto;font-variant-numeric:tabular-nums}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.4rem,1fr));gap:1.4rem 1.6rem;margin:1.75rem 0 0}
        .tiles div{display:flex;flex-direction:column}
        .tiles dt{color:var(--muted);font-size:.875rem}
        .tiles dd{margin:0}
        .tiles .figure{font-size:1.35rem;white-space:nowrap;line-height:1.25;font-weight:600;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
        .tiles .aside{color:var(--muted);font-size:.875rem}

        """

    private static let tables: StaticString = """
        .scroll{overflow-x:auto;margin:.75rem 0 1.25rem;--shade:color-mix(in srgb,var(--ink) 22%,transparent);background:
        linear-gradient(90deg,var(--paper) 40%,transparent) 0 0/2rem 100% no-repeat local,
        linear-gradient(270deg,var(--paper) 40%,transparent) 100% 0/2rem 100% no-repeat local,
        linear-gradient(90deg,var(--shade),transparent) 0 0/.5rem 100% no-repeat scroll,
        linear-gradient(270deg,var(--shade),transparent) 100% 0/.5rem 100% no-repeat scroll}
        table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
        caption{text-align:left;color:var(--muted);padding:0 0 .4rem}
        th,td{text-align:left;vertical-align:baseline;padding:.42rem .9rem .42rem 0;border-bottom:1px solid var(--rule)}
        th:last-child,td:last-child{padding-right:0}
        thead th{color:var(--muted);font-weight:500;border-bottom-color:var(--muted)}
        tbody th{font-weight:500}
        th code{white-space:nowrap}
        .number{text-align:right;white-space:nowrap}
        tr.total th,tr.total td{font-weight:650}
        tr.bad th,tr.bad td{color:var(--bad)}
        dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.5rem;margin:.75rem 0;font-size:.95rem}
        dl.facts dt{color:var(--muted)}
        dl.facts dd{margin:0}
        ol.steps{list-style:none;margin:1rem 0;padding:0}
        ol.steps>li{display:grid;grid-template-columns:2rem 5rem 1fr auto;gap:0 .75rem;padding:.55rem 0;border-top:1px solid var(--rule)}
        ol.steps .number{color:var(--muted)}
        ol.steps .took{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;color:var(--muted)}
        ol.steps .what{min-width:0}
        ol.steps .what p{margin:0;font-size:.925rem;color:var(--muted)}

        """

    private static let charts: StaticString = """
        figure{margin:1.75rem 0 2.25rem}
        figcaption p{font-size:.925rem;margin:0 0 .6em}
        .legend{display:flex;flex-wrap:wrap;gap:.2rem 1.15rem;list-style:none;margin:.5rem 0 .9rem;padding:0;font-size:.85rem}
        .legend li{display:flex;align-items:center;gap:.45rem}
        .swatch{flex:none;width:14px;height:11px;background:var(--tone)}
        .swatch.line{height:0;border-top:2px solid var(--tone);background:none}
        .swatch.dashed{height:0;border-top:2px dashed var(--tone);background:none}
        .swatch.bar{height:4px}
        .swatch.warning{background:var(--warning)}
        .swatch.critical{background:repeating-linear-gradient(135deg,var(--red) 0 1.5px,transparent 1.5px 5px) 0 100%/100% 4px no-repeat,var(--critical)}
        .plot{position:relative;padding:var(--headroom) 6px 30px 62px}
        .plot.bars{padding-left:0}
        .plot.bars{padding-bottom:0;max-width:46rem}
        .plot svg{display:block;overflow:visible}
        .plot>svg{height:var(--height)}
        .plot text{fill:var(--muted);font-size:12px;font-variant-numeric:tabular-nums}
        .plot text.row{fill:var(--ink);font-size:13px}
        .plot text.strong{fill:var(--ink);font-weight:600}
        .plot text.value,.plot text.y,.plot text.x.last{text-anchor:end}
        .plot text.x,.plot text.middle{text-anchor:middle}
        .plot text.x.first{text-anchor:start}
        .plot path,.plot line,.plot circle{vector-effect:non-scaling-stroke}
        .grid{stroke:var(--rule);stroke-width:1}
        .zero{stroke:var(--muted);stroke-width:1}
        [class*=line-]{fill:none;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round}
        .area{stroke:var(--paper);stroke-width:1;stroke-linejoin:round}
        .dashed{stroke-dasharray:5 4}
        .hollow{fill:var(--paper);stroke-width:1.5}
        .mark{stroke:var(--ink);stroke-width:1;opacity:.75}
        .mark.median{stroke-width:2.5;opacity:1}
        .rulemark{stroke:var(--ink);stroke-width:1;stroke-dasharray:2 3}
        .leader{stroke:var(--muted);stroke-width:1}
        .reclaim{fill:var(--ink);stroke:var(--ink);stroke-width:1}
        .level-warning{fill:var(--warning)}
        .level-critical{fill:var(--critical)}
        .faint{opacity:.45}
        .paper{fill:var(--paper)}
        .track{fill:var(--raised)}
        .better{fill:var(--rule)}
        .frame{fill:none;stroke:var(--rule)}
        .goal{stroke:var(--ink);stroke-width:2.5}
        .cut{fill:none;stroke:var(--paper);stroke-width:2}
        .swatch.better{background:var(--rule)}
        .swatch.goal{width:0;border-left:2.5px solid var(--ink);height:14px;background:none;margin:0 6px}
        .median-line{stroke:var(--muted);stroke-width:1}
        .reference{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4}
        .hatch{fill:url(#hatch)}
        .hatch-line{stroke:var(--red);stroke-width:1.5;opacity:.55}
        .cursor{position:absolute;width:1px;background:var(--ink);pointer-events:none;bottom:30px}
        .readout{min-height:2.9em;color:var(--muted);margin:.35rem 0 0;font-size:.875rem;font-variant-numeric:tabular-nums;max-width:none}
        .readout span{color:var(--ink);white-space:nowrap;display:inline-block;margin-right:1.1em}
        .readout b{font-weight:500;color:var(--muted)}
        .multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(18rem,1fr));gap:2rem 2.5rem;margin:1.5rem 0}
        .multiples figure{margin:0;min-width:0}

        """

    private static let details: StaticString = """
        details{margin:.6rem 0;font-size:.925rem}
        summary{cursor:pointer;color:var(--link);width:fit-content;padding:.2rem 0}
        details details{margin-left:1rem}
        footer{border-top:1px solid var(--rule);margin-top:3rem;padding-top:1.25rem;padding-bottom:3rem;font-size:.875rem}

        """

    private static let narrow: StaticString = """
        @media (max-width:40rem){
        header,main,footer{padding-left:1.1rem;padding-right:1.1rem}
        body>header{padding-top:1.75rem}
        h1{font-size:1.65rem}
        .verdict h2{font-size:1.25rem}
        .minor,.wide{display:none}
        dl.facts{grid-template-columns:1fr;gap:0}
        dl.facts dd{margin-bottom:.55rem}
        ol.steps>li{grid-template-columns:1.5rem 1fr auto}
        ol.steps .when{grid-column:2;grid-row:1;font-size:.85rem}
        ol.steps .took{grid-row:1;grid-column:3}
        ol.steps .what{grid-column:2/4}
        .plot{padding-left:56px;padding-top:var(--narrow-headroom,var(--headroom))}
        .plot text.row{font-size:12px}
        .tiles{grid-template-columns:1fr 1fr;gap:1.1rem}
        .multiples{grid-template-columns:1fr}
        }
        @media (min-width:40.01rem){.narrow{display:none}}
        @media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}

        """

    private static let paper: StaticString = """
        @media print{
        @page{margin:16mm}
        body{font-size:10.5pt}
        header,main,footer{max-width:none;padding:0}
        nav,.skip,.readout,.cursor{display:none}
        figure,.checks li,ol.steps>li,tr,.tiles div{break-inside:avoid}
        h2,h3{break-after:avoid}
        .scroll{overflow:visible;background:none}
        table{font-size:8.5pt}
        th,td{overflow-wrap:anywhere;padding-right:.6em}
        th code{white-space:normal}
        *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
        }

        """
}
