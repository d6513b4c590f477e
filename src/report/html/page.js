// Search and sorting. Everything else of the page works without this script.
'use strict';
(() => {
  const table = document.querySelector('table.comparisons');
  if (!table) return;
  const toolbar = document.getElementById('toolbar');
  const search = document.getElementById('search');
  const verdict = document.getElementById('verdict');
  const shown = document.getElementById('shown');
  const nothing = document.getElementById('nothing-found');
  const rows = Array.from(table.tBodies, (body, index) => {
    const name = body.querySelector('summary').textContent;
    return { body, index, name, lower: name.toLowerCase(), verdicts: body.dataset.verdict.split(' ') };
  });

  // Every word must be in the name, in any order.
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { body, lower, verdicts } of rows) {
      const found = words.every((word) => lower.includes(word))
        && (!verdict.value || verdicts.includes(verdict.value));
      body.hidden = !found;
      count += found;
    }
    shown.textContent = count === rows.length ? `${count} benchmarks` : `${count} of ${rows.length} benchmarks`;
    nothing.hidden = count > 0;
  };
  let waiting = 0;
  const filterSoon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(filter);
  };
  search.addEventListener('input', filterSoon);
  verdict.addEventListener('change', filterSoon);
  toolbar.addEventListener('submit', (event) => event.preventDefault());
  toolbar.hidden = false;
  // A browser that goes back to the page keeps what was typed.
  if (search.value || verdict.value) filter();

  const collator = new Intl.Collator('en', { numeric: true });
  // Of several revisions the smallest value counts upwards and the largest downwards; none comes last.
  const compare = (key, sign) => (a, b) => {
    if (key === 'name') return sign * collator.compare(a.name, b.name) || a.index - b.index;
    const [x, y] = [a, b].map(({ body }) => {
      const values = body.dataset[key].split(' ').filter(Boolean).map(Number);
      return values.length ? sign * (sign > 0 ? Math.min : Math.max)(...values) : Infinity;
    });
    return x === y ? a.index - b.index : x - y;
  };
  for (const header of table.querySelectorAll('th[data-sort]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener('click', () => {
      const ascending = header.getAttribute('aria-sort') !== 'ascending';
      for (const other of table.querySelectorAll('th[aria-sort]')) other.removeAttribute('aria-sort');
      header.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      const sorted = rows.toSorted
        ? rows.toSorted(compare(header.dataset.sort, ascending ? 1 : -1))
        : rows.slice().sort(compare(header.dataset.sort, ascending ? 1 : -1));
      table.append(...sorted.map(({ body }) => body));
    });
  }

  // A link to a benchmark opens it.
  const openTarget = () => {
    const body = rows.find((row) => '#' + row.body.id === location.hash);
    if (body) body.body.querySelector('details').open = true;
  };
  addEventListener('hashchange', openTarget);
  openTarget();
})();
