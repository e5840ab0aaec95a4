"""What could be wrong with a page, as scripts that make it so, and the rule that must notice.

A check that cannot fail is no check: each of these is done to a good page, and exactly this must be complained about.
"""

BREAKAGES = [
    ("contrast", "document.querySelector('p').style.color = '#8a8a8a'"),
    ("contrast", "document.querySelector('.plot text.y').style.fill = 'var(--rule)'"),
    ("contrast", "document.querySelector('.level-critical:not(.faint)').style.fill = 'var(--ink)'"),
    ("size", "document.querySelector('.plot text.y').style.fontSize = '10px'"),
    ("overflow", "document.querySelector('.plot text.row').textContent = 'x'.repeat(400)"),
    ("overflow", "document.querySelector('main').style.minWidth = '130vw'"),
    ("inside", "document.querySelector('.plot text.x').setAttribute('dx', 1100)"),
    ("moment", "document.querySelector('.moment.wide text').remove()"),
    ("moment", "document.querySelector('.moment.wide line').remove()"),
    ("moment", "document.querySelector('.moment.wide line').setAttribute('x2', '70%')"),
    ("moment", "const all = document.querySelectorAll('.moment.wide'); all[0].outerHTML = all[1].outerHTML"),
    ("word", "const code = document.querySelector('code.option'); code.style.whiteSpace = 'normal'; "
             "code.parentElement.style.width = '1px'"),
    ("heading", "document.querySelector('h3').outerHTML = '<h4>A level too deep</h4>'"),
    ("heading", "document.querySelector('h2').outerHTML = '<h1>A second title</h1>'"),
    ("identifier", "document.querySelectorAll('section[id]')[1].id = document.querySelector('section[id]').id"),
    ("link", "document.querySelector('nav a').setAttribute('href', '#nowhere')"),
    ("request", "document.querySelector('nav a').setAttribute('href', 'elsewhere.html')"),
    ("chart", "document.querySelector('svg[role=img]').removeAttribute('tabindex')"),
    ("chart", "document.querySelector('svg[role=img] desc').remove()"),
    ("chart", "document.querySelector('figure details').remove()"),
    ("name", "document.querySelector('svg[role=img] title').textContent = ''"),
    ("table", "document.querySelector('table caption').remove()"),
    ("table", "document.querySelector('th').removeAttribute('scope')"),
    ("table", "document.querySelector('td').remove()"),
    ("list", "document.querySelector('ul').append(document.createElement('p'))"),
    ("details", "document.querySelector('summary').remove()"),
    ("region", "document.querySelector('[role=region]').removeAttribute('aria-label')"),
    ("language", "document.documentElement.lang = ''"),
    ("landmark", "document.querySelector('main').outerHTML = '<div>' + document.querySelector('main').innerHTML + '</div>'"),
    ("scroll", "const box = document.querySelectorAll('.scroll')[1]; box.removeAttribute('tabindex'); "
               "box.closest('details')?.setAttribute('open', ''); box.style.width = '40px'"),
    ("text", "document.querySelector('main').textContent = ''; document.querySelector('nav').textContent = ''"),
]

# What the browser itself reports.
MISDEEDS = [
    ("console", "console.log('hello')"),
    ("dialog", "setTimeout(() => alert('hello'), 0)"),
    # The page's own policy forbids it before it becomes a request.
    ("log", "fetch('elsewhere.txt').catch(() => {})"),
    ("exception", "setTimeout(() => { throw new Error('hello') }, 0)"),
]
