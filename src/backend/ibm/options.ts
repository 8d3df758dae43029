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
    meaning: 'CRN of the instance whose minutes are used',
    parse: matching(
      INSTANCE,
      'the CRN of an instance: crn:v1:bluemix:public:quantum-computing:REGION:a/…:…::',
    ),
  },
  device: {
    meaning: 'the processor, e.g. ibm_fez',
    parse: matching(/^[a-z0-9_-]{1,64}$/i, 'the name of a processor, e.g. ibm_fez'),
  },
  qubits: { meaning: 'qubits used at most', fallback: '100', parse: wholeNumber(1, 1024) },
  max_readout_error: {
    meaning: 'a qubit whose e01 + e10 is larger is not used',
    fallback: '0.05',
    parse: decimal(0, 1),
  },
  max_gate_error: {
    meaning: 'a qubit whose sx fails more often is not used',
    fallback: '0.02',
    parse: decimal(0, 1),
  },
  // Leaves room for gate errors and for drift since the calibration, which the bound of max_readout_error does not
  // cover.
  min_entropy: claimOption('0.8'),
  bits_per_job: {
    meaning: 'raw bits of one job, at least',
    fallback: '4194304',
    parse: wholeNumber(1024, MAX_READ_BITS),
  },
  max_seconds: {
    meaning: 'IBM ends a job that holds the processor for longer; one that would is not submitted',
    fallback: '60',
    parse: wholeNumber(1, 10_800),
  },
  private: {
    meaning: 'IBM keeps neither circuits nor results, which can then be read only once',
    fallback: 'true',
    parse: yesOrNo,
  },
  price_per_second: {
    meaning: 'of the processor, in the currency; 1 where free minutes are used',
    fallback: '1.60',
    parse: decimal(0, 1_000_000),
  },
  currency: {
    meaning: 'of the price; qpu-seconds where free minutes are used',
    fallback: 'USD',
    parse: matching(/^[A-Za-z-]{3,16}$/, 'an ISO 4217 code, or qpu-seconds'),
  },
  seconds_per_job: { meaning: 'that a job takes beside its shots', fallback: '2', parse: decimal(0, 10_800) },
  seconds_per_shot: { meaning: 'that one shot takes', fallback: '0.00035', parse: decimal(0, 60) },
  api_version: {
    meaning: 'IBM-API-Version',
    fallback: '2026-04-15',
    parse: matching(/^\d{4}-\d{2}-\d{2}$/, 'a date, e.g. 2026-04-15'),
  },
  api_url: {
    meaning: "base of the REST API; auto: that of the CRN's region",
    fallback: 'auto',
    parse: orAuto(httpUrl),
  },
  iam_url: { meaning: 'where tokens come from', fallback: 'https://iam.cloud.ibm.com', parse: httpUrl },
} as const;

export type IbmOptions = OptionValues<typeof IBM_OPTIONS>;

/** Returns the API of the CRN's region. us-east has no prefix (qiskit-ibm-runtime, default_runtime_url_resolver). */
export function apiUrlOf(crn: string): string {
  const region = crn.split(':')[5];
  return `https://${region === 'us-east' ? '' : `${region}.`}quantum.cloud.ibm.com/api/v1`;
}
