/** Requests as they go over the wire, to be sent again and again. */

export function getOf(path: string, ...fields: readonly string[]): string {
  const accept = fields.includes('Accept-Encoding: br') ? 'text/html' : 'application/json';
  return `GET ${path} HTTP/1.1\r\n${['Host: a', `Accept: ${accept}`, ...fields].join('\r\n')}\r\n\r\n`;
}

export function postOf(path: string, body: object, ...fields: readonly string[]): string {
  const text = JSON.stringify(body);
  const own = ['Host: a', 'Content-Type: application/json', `Content-Length: ${text.length}`, ...fields];
  return `POST ${path} HTTP/1.1\r\n${own.join('\r\n')}\r\n\r\n${text}`;
}
