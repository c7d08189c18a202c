// Charts: a readout for one place, under the pointer or selected with the arrow keys, and a legend that hides series. When a part of the
// page is reloaded, `setUpCharts` is called for it again.

/** The readouts of the page's charts. All show the day that one of them is read at. */
let readouts = [];

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
  /** A name in its own direction of writing, and what is said of it. */
  const lineOf = (text, name = '') => {
    const line = document.createElement('div');
    const isolated = document.createElement('bdi');
    isolated.textContent = name;
    line.append(isolated, text);
    return line;
  };
  const nameOf = (index) => labels[index].replace(/, (not complete|so far)$/, '');
  const draw = (index) => {
    at = Math.min(labels.length - 1, Math.max(0, index));
    const place = places[at];
    const heading = document.createElement('b');
    heading.textContent = labels[at];
    const lines = series
      .filter((_, number) => shown[number])
      .map(({ name, texts }) => lineOf(`: ${texts[at]}`, name));
    tip.replaceChildren(heading, ...lines, ...(notes[at] ? [lineOf(notes[at])] : []));
    cross.style.left = `${place}%`;
    tip.style.left = place < 50 ? `calc(${place}% + 0.75rem)` : '';
    tip.style.right = place < 50 ? '' : `calc(${100 - place}% + 0.75rem)`;
    plot.append(cross, tip);
  };
  const others = () => {
    readouts = readouts.filter((readout) => readout.plot.isConnected);
    return readouts.filter((readout) => readout.plot !== plot);
  };
  /** Shows a place here, and the same day or hour in the other charts. */
  const show = (index) => {
    draw(index);
    tip.setAttribute('role', 'status');
    for (const readout of others()) readout.follow(nameOf(at));
  };
  const end = () => {
    leave();
    for (const readout of others()) readout.leave();
  };
  readouts.push({
    plot,
    leave,
    follow: (name) => {
      const index = labels.findIndex((_, number) => nameOf(number) === name);
      tip.removeAttribute('role');
      if (index < 0) leave();
      else draw(index);
    },
  });
  plot.tabIndex = 0;
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-label', 'Chart: read it with the arrow keys');
  plot.addEventListener('pointermove', (event) => {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 100;
    const distances = places.map((place) => Math.abs(place - x));
    show(distances.indexOf(Math.min(...distances)));
  });
  plot.addEventListener('pointerleave', end);
  plot.addEventListener('blur', end);
  const moves = {
    ArrowLeft: () => (at < 0 ? labels.length : at) - 1,
    ArrowRight: () => at + 1,
    Home: () => 0,
    End: () => labels.length - 1,
  };
  plot.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') end();
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
    Object.assign(button.dataset, entry.dataset);
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

/** The space between two names beside their curves, in pixels. */
const NAME_GAP = 2;

/** Moves the names of several curves beside their ends, as near as they fit. On a phone they stay above. */
function placeNames(chart) {
  const legend = chart.querySelector('.legend');
  const names = [...legend.querySelectorAll('[data-series]')];
  for (const name of names) name.style.transform = '';
  if (getComputedStyle(legend).flexDirection !== 'column') return;
  const height = chart.querySelector('.plot').clientHeight;
  const tops = names.map((name) => (Number(name.dataset.end) / 100) * height - name.offsetHeight / 2);
  const room = names[0].offsetHeight + NAME_GAP;
  for (let i = 1; i < tops.length; i++) tops[i] = Math.max(tops[i], tops[i - 1] + room);
  for (let i = tops.length - 1, last = height; i >= 0; i--) {
    tops[i] = Math.min(tops[i], last - (i === tops.length - 1 ? room / 2 : room));
    last = tops[i];
  }
  for (const [i, name] of names.entries()) {
    name.style.transform = `translateY(${Math.max(0, tops[i]) - (name.offsetTop - legend.offsetTop)}px)`;
  }
}

export function setUpCharts(root) {
  for (const chart of root.querySelectorAll('.chart')) {
    const plot = chart.querySelector('[data-chart]');
    const data = JSON.parse(plot.dataset.chart);
    const shown = data.series.map(() => true);
    setUpReadout(plot, data, shown);
    if (data.series.length > 1) setUpLegend(chart, data, shown);
    if (!chart.classList.contains('several')) continue;
    placeNames(chart);
    new ResizeObserver(() => placeNames(chart)).observe(chart);
  }
}
