/// The one script of a page: shows the row of a chart's table that is nearest to the pointer, or that the arrow keys have
/// reached. Without it nothing is missing, since the table is there.
///
/// It has no `<` and no `&`, so that the page stays well-formed XML.
enum PageScript {
    static let source: StaticString = """
        "use strict";
        for (const figure of document.querySelectorAll("figure[data-readout]")) {
          const plot = figure.querySelector(".plot"), svg = plot.querySelector("svg");
          const heads = [...figure.querySelectorAll("thead th")].map(cell => cell.textContent);
          const rows = [...figure.querySelectorAll("tbody tr[data-at]")];
          if (rows.length === 0) continue;
          const places = rows.map(row => Number(row.dataset.at));
          const cursor = document.createElement("div"), readout = document.createElement("p");
          cursor.className = "cursor";
          cursor.hidden = true;
          readout.className = "readout";
          readout.setAttribute("role", "status");
          // Said once where many small charts stand side by side.
          const many = figure.closest(".multiples");
          const hint = many === null || many.firstElementChild === figure
            ? "Point at the chart, or focus it and use the arrow keys, to read values." : "";
          readout.textContent = hint;
          plot.append(cursor);
          plot.after(readout);
          let current = -1;
          const show = index => {
            current = Math.max(0, Math.min(index, rows.length - 1));
            const box = svg.getBoundingClientRect(), outer = plot.getBoundingClientRect();
            cursor.style.left = box.left - outer.left + places[current] * box.width + "px";
            cursor.style.top = box.top - outer.top + "px";
            cursor.hidden = false;
            readout.replaceChildren(...[...rows[current].cells].map((cell, column) => {
              const item = document.createElement("span"), head = document.createElement("b");
              head.textContent = heads[column] + " ";
              item.append(head, cell.textContent + " ");
              return item;
            }));
          };
          const hide = () => { current = -1; cursor.hidden = true; readout.textContent = hint; };
          const nearest = part => places.reduce(
            (best, place, index) => Math.abs(places[best] - part) > Math.abs(place - part) ? index : best, 0);
          plot.addEventListener("pointermove", event => {
            const box = svg.getBoundingClientRect();
            show(nearest((event.clientX - box.left) / box.width));
          });
          plot.addEventListener("pointerleave", hide);
          svg.addEventListener("blur", hide);
          svg.addEventListener("keydown", event => {
            const to = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: rows.length - 1 }[event.key];
            if (event.key === "Escape") hide();
            if (to === undefined) return;
            event.preventDefault();
            show(to);
          });
        }

        """
}
