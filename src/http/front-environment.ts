/**
 * Must be evaluated before uWebSockets.js is: the binary reads this variable once, when it is loaded. The
 * only place beside config/config.ts that touches the environment, because the library offers no other way.
 * In a worker thread `process.env` is a copy that the binary cannot see, so the main thread imports this file
 * (or front.ts) before it starts front threads.
 *
 * A little more than LIMITS.requestHeadBytesMax: the library holds so much for every connection with an
 * unfinished head. A head between the two is refused by the front with a JSON 431; beyond, the library itself
 * answers 431 with a line of HTML and closes.
 */
import { LIMITS } from '../core/limits.ts';

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes);
