import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';

export const QrCode = ({ text, of }: { text: string; of: string }) => (
  <figure class="qr" role="img" aria-label={`QR code of ${of}`}>
    {html`${raw(renderSVG(text, { border: 2 }))}`}
  </figure>
);
