// Asks the browser for a passkey and submits its answer with the form. The forms stay hidden in browsers without passkeys.

const isSupported =
  window.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined &&
  window.PublicKeyCredential.parseRequestOptionsFromJSON !== undefined;

/** Throws an error for the person to read. */
async function fetchChallenge(form) {
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(form.dataset.challenge, { method: 'POST', body }).catch(() => null);
  const content = await answer?.json().catch(() => null);
  if (answer?.ok && content) return content;
  throw new Error(content?.message ?? 'That did not work. Try again in a minute.');
}

async function askBrowser(form) {
  const challenge = await fetchChallenge(form);
  if (form.dataset.passkey === 'create') {
    return navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(challenge),
    });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(challenge) });
}

const FAULTS = {
  NotAllowedError: 'Cancelled, or this device has no passkey for this site.',
  InvalidStateError: 'This device has a passkey of yours already.',
};

for (const form of isSupported ? document.querySelectorAll('form[data-passkey]') : []) {
  form.hidden = false;
  const status = form.querySelector('[role=status]');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    status.textContent = '';
    try {
      const credential = await askBrowser(form);
      form.elements.credential.value = JSON.stringify(credential);
      // The challenge took it.
      if (form.elements.passkey_password) form.elements.passkey_password.value = '';
      form.submit();
    } catch (error) {
      status.textContent = FAULTS[error.name] ?? error.message;
    }
  });
}
