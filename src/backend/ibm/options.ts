import { MAX_READ_BITS } from '../backend.ts';
import {
  claimOption,
  decimal,
  httpUrl,
  matching,
  OptionError,
  type OptionValues,
  orAuto,
  secretOption,
  wholeNumber,
} from '../definition.ts';

const yesOrNo = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new OptionError('true or false');
  return text === 'true';
};

/** A CRN of an instance; its sixth part is the region. */
const INSTANCE = /^crn:v1:[a-z0-9-]*:[a-z0-9-]*:quantum-computing:[a-z0-9-]+:[!-9;-~]+:[!-9;-~]+::$/;

export const IBM_OPTIONS = {
  api_key: secretOption('API key of IBM Cloud'),
  crn: {
    meaning: 'CRN of the IBM Quantum instance that pays for the processor time',
    parse: matching(
      INSTANCE,
      'the CRN of an instance: crn:v1:bluemix:public:quantum-computing:REGION:a/…:…::',
    ),
  },
  device: {
    meaning: 'name of the quantum processor, e.g. ibm_fez',
    parse: matching(/^[a-z0-9_-]{1,64}$/i, 'the name of a processor, e.g. ibm_fez'),
  },
  qubits: { meaning: 'maximum number of qubits to use', fallback: '100', parse: wholeNumber(1, 1024) },
  max_readout_error: {
    meaning: 'maximum readout error (e01 + e10) of a qubit; other qubits are not used',
    fallback: '0.05',
    parse: decimal(0, 1),
  },
  max_gate_error: {
    meaning: 'maximum error of the sx gate of a qubit; other qubits are not used',
    fallback: '0.02',
    parse: decimal(0, 1),
  },
  // Leaves room for gate errors and for drift since the calibration, which the bound of max_readout_error does not
  // cover.
  min_entropy: claimOption('0.8'),
  bits_per_job: {
    meaning: 'minimum number of raw bits per job',
    fallback: '4194304',
    parse: wholeNumber(1024, MAX_READ_BITS),
  },
  max_seconds: {
    meaning:
      'maximum processor time of a job in seconds; IBM ends a longer job, and a job that would take longer is not submitted',
    fallback: '60',
    parse: wholeNumber(1, 10_800),
  },
  private: {
    meaning: 'true: IBM does not keep circuits and results, and results can be read only once',
    fallback: 'true',
    parse: yesOrNo,
  },
  price_per_second: {
    meaning: 'price of one second of processor time in the currency; 1 for the free plan',
    fallback: '1.60',
    parse: decimal(0, 1_000_000),
  },
  currency: {
    meaning: 'currency of the price; qpu-seconds for the free plan',
    fallback: 'USD',
    parse: matching(/^[A-Za-z-]{3,16}$/, 'an ISO 4217 code, or qpu-seconds'),
  },
  seconds_per_job: {
    meaning: 'estimated processor time of a job without its shots, in seconds',
    fallback: '2',
    parse: decimal(0, 10_800),
  },
  seconds_per_shot: {
    meaning: 'estimated processor time of one shot, in seconds',
    fallback: '0.00035',
    parse: decimal(0, 60),
  },
  api_version: {
    meaning: 'value of the header IBM-API-Version',
    fallback: '2026-04-15',
    parse: matching(/^\d{4}-\d{2}-\d{2}$/, 'a date, e.g. 2026-04-15'),
  },
  api_url: {
    meaning: 'base URL of the REST API; auto: that of the region in the CRN',
    fallback: 'auto',
    parse: orAuto(httpUrl),
  },
  iam_url: {
    meaning: 'URL of the service that issues access tokens',
    fallback: 'https://iam.cloud.ibm.com',
    parse: httpUrl,
  },
} as const;

export type IbmOptions = OptionValues<typeof IBM_OPTIONS>;

/** Returns the API of the CRN's region. us-east has no prefix (qiskit-ibm-runtime, default_runtime_url_resolver). */
export function apiUrlOf(crn: string): string {
  const region = crn.split(':')[5];
  return `https://${region === 'us-east' ? '' : `${region}.`}quantum.cloud.ibm.com/api/v1`;
}
