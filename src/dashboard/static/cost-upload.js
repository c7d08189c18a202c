// Uploads of cost files that are too large for the form: they are read here, checked as a whole, and stored by days. Smaller files go with the form.

const form = document.querySelector('[data-cost-upload]');
const bar = form?.querySelector('progress');
const state = form?.querySelector('[role=status]');
const button = form?.querySelector('button[type=submit]');
const ATTEMPTS = 4;

/** Sends JSON, again if no answer comes. Throws an error for the person to read. */
async function send(path, body) {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`/costs/${path}${form.dataset.costUpload}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => null);
    const content = await answer?.json().catch(() => null);
    if (answer && content && (answer.ok || content.faults)) return content;
    const isFinal = answer && answer.status < 500 && answer.status !== 429;
    if (isFinal && answer.redirected) throw new Error('you are signed out. Sign in again.');
    if (isFinal || attempt === ATTEMPTS)
      throw new Error(answer ? `the service answered ${answer.status}.` : 'no answer came.');
    await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
  }
}

const service = {
  send: (rows, dryRun) => send('rows', { rows, dry_run: dryRun }),
  recall: async (headings) => (await send('columns', { headings })).columns,
  // The form that asks for columns does it.
  remember: async () => {},
};

/** Writes lines of text below the form. */
function say(...lines) {
  state.replaceChildren(
    ...lines.map((line) => {
      const paragraph = document.createElement('span');
      paragraph.textContent = line;
      return paragraph;
    }),
  );
  // The menu may be taller than the screen.
  state.scrollIntoView({ block: 'nearest' });
}

/** Sends the headings in place of the file, for the page that asks which column is which. */
function askColumns(headings) {
  const field = document.createElement('input');
  Object.assign(field, { type: 'hidden', name: 'headings', value: JSON.stringify(headings) });
  form.elements.file.value = '';
  form.append(field);
  form.submit();
}

const daysText = (days) =>
  days ? `${days.from} to ${days.to} (${days.rows.toLocaleString('en')} rows)` : 'nothing';

/** Reads and stores a file. Returns false if it goes with the form. */
async function upload(file) {
  const { readLargeFile, uploadByDay, storedQuery } = await import('./built/cost-reader.js');
  const options = {
    currency: form.elements.file_currency.value.trim(),
    spread: form.elements.spread.checked,
    map: null,
  };
  const large = await readLargeFile(new Uint8Array(await file.arrayBuffer()), options, service.recall);
  if (large === null) return false;
  const { parsed } = large;
  if (parsed.unknownHeadings?.length > 0) {
    askColumns(parsed.unknownHeadings);
    return true;
  }
  bar.hidden = false;
  const outcome = await uploadByDay(large, null, service, (share, phase) => {
    bar.value = share;
    say(`${phase === 'check' ? 'Checking' : 'Storing'} … ${Math.floor(100 * share)} %`);
  });
  bar.hidden = true;
  if (outcome.outcome === 'stored') {
    const query = new URLSearchParams(form.dataset.costUpload);
    const { format, skipped, ignored } = parsed;
    const stored = storedQuery({ ...outcome.totals, format, skipped, ignored });
    for (const [name, value] of Object.entries(stored)) query.set(name, value);
    location.assign(`/costs?${query}`);
  } else if (outcome.outcome === 'refused') {
    const faults = outcome.faults.slice(0, 10).map(({ path, message }) => `${path} ${message}`.trim());
    const more = outcome.faults.length - faults.length;
    say('Nothing was stored.', ...faults, ...(more > 0 ? [`and ${more} more`] : []));
  } else {
    say(
      `Stored: ${daysText(outcome.stored)}. Not stored: ${daysText(outcome.missing)}.`,
      `Reason: ${outcome.reason}`,
      'Upload the file again to complete it.',
    );
  }
  return true;
}

form?.addEventListener('submit', async (event) => {
  const [file] = form.elements.file.files;
  if (!file || file.size <= 64 * 1024) return;
  event.preventDefault();
  button.disabled = true;
  say('Reading …');
  try {
    if (!(await upload(file))) form.submit();
  } catch (error) {
    bar.hidden = true;
    say(`Nothing was stored: ${error.message}`);
  }
  button.disabled = false;
});
