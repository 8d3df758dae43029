import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Front, startFront } from '../http/front.ts';
import { metricsReply } from '../http/metrics.ts';

/** Few ask for metrics, and their connections are counted among what the service needs itself (descriptors.ts). */
const CONNECTIONS_MAX = 8;

/** Serves /metrics on a port of its own, for networks where those who ask for values must not see it. */
export function startMetricsFront(
  port: number,
  metrics: () => Promise<string>,
  { config, log, clock }: { readonly config: Config; readonly log: Log; readonly clock: Clock },
): Promise<Front> {
  const handle = async (exchange: Exchange): Promise<void> => {
    if (exchange.path !== '/metrics') throw new ApiError('not_found');
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
      throw new ApiError('method_not_allowed', { allow: 'GET, HEAD' });
    }
    const { head, body } = metricsReply(await metrics());
    exchange.send(head, body);
  };
  const limits = { connectionsMax: CONNECTIONS_MAX };
  return startFront({ host: config.host, port, handle, log, clock, limits });
}
