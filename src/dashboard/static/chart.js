// Charts: a readout for one place, under the pointer or selected with the arrow keys, and a legend that hides series. When a part of the
// page is reloaded, `setUpCharts` is called for it again.

/** The readout of a plot. `shown` says which series are visible. */
function setUpReadout(plot, { places, labels, notes, series }, shown) {
  const cross = document.createElement('div');
  const tip = document.createElement('div');
  cross.className = 'cross';
  tip.className = 'tip';
  let at = -1;
  const leave = () => {
    at = -1;
    cross.remove();
    tip.remove();
  };
  const lineOf = (text) => {
    const line = document.createElement('div');
    line.textContent = text;
    return line;
  };
  const show = (index) => {
    at = Math.min(labels.length - 1, Math.max(0, index));
    const place = places[at];
    const heading = document.createElement('b');
    heading.textContent = labels[at];
    const lines = series
      .filter((_, number) => shown[number])
      .map(({ name, texts }) => lineOf(`${name}: ${texts[at]}`));
    tip.replaceChildren(heading, ...lines, ...(notes[at] ? [lineOf(notes[at])] : []));
    cross.style.left = `${place}%`;
    tip.style.left = place < 50 ? `calc(${place}% + 0.75rem)` : '';
    tip.style.right = place < 50 ? '' : `calc(${100 - place}% + 0.75rem)`;
    plot.append(cross, tip);
  };
  plot.tabIndex = 0;
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-label', 'Chart: read it with the arrow keys');
  tip.setAttribute('role', 'status');
  plot.addEventListener('pointermove', (event) => {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 100;
    const distances = places.map((place) => Math.abs(place - x));
    show(distances.indexOf(Math.min(...distances)));
  });
  plot.addEventListener('pointerleave', leave);
  plot.addEventListener('blur', leave);
  const moves = {
    ArrowLeft: () => (at < 0 ? labels.length : at) - 1,
    ArrowRight: () => at + 1,
    Home: () => 0,
    End: () => labels.length - 1,
  };
  plot.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') leave();
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    show(move());
  });
}

/** Turns the legend's entries into buttons. The visible series are scaled to fill the chart. */
function setUpLegend(chart, { series, top }, shown) {
  const ticks = chart.querySelectorAll('.ticks span');
  const scaled = chart.querySelector('[data-scaled]');
  const redraw = () => {
    for (const line of chart.querySelectorAll('[data-line]')) {
      line.classList.toggle('off', !shown[line.dataset.line]);
    }
    const left = series.filter((_, number) => shown[number]);
    const largest = left.reduce((most, one) => (one.top > most.top ? one : most), left[0]);
    const by = top / largest.top;
    scaled.setAttribute('transform', `translate(0 ${100 - 100 * by}) scale(1 ${by})`);
    for (const [index, tick] of ticks.entries()) tick.textContent = largest.ticks[index];
  };
  for (const entry of chart.querySelectorAll('[data-series]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.series = entry.dataset.series;
    button.setAttribute('aria-pressed', 'true');
    button.append(...entry.childNodes);
    entry.replaceWith(button);
    button.addEventListener('click', () => {
      const number = Number(button.dataset.series);
      // The last visible series cannot be hidden.
      if (shown[number] && shown.filter(Boolean).length === 1) return;
      shown[number] = !shown[number];
      button.setAttribute('aria-pressed', String(shown[number]));
      redraw();
    });
  }
}

export function setUpCharts(root) {
  for (const chart of root.querySelectorAll('.chart')) {
    const plot = chart.querySelector('[data-chart]');
    const data = JSON.parse(plot.dataset.chart);
    const shown = data.series.map(() => true);
    setUpReadout(plot, data, shown);
    if (data.series.length > 1) setUpLegend(chart, data, shown);
  }
}
