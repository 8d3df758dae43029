/** A qubit as its calibration shows it. */
interface Qubit {
  readonly e01: number;
  readonly e10: number;
  /** 1 in a dead qubit. */
  readonly sx?: number;
  /** False: no readout figures are published. */
  readonly isPublished?: false;
  readonly isOperational?: false;
}

/** A small processor in the form of IBM's, with every flaw that calibrations show. */
export interface IbmDevice {
  readonly qubits: number;
  readonly basisGates: readonly string[];
  readonly name: string;
  readonly isSimulator: boolean;
  readonly table: readonly Qubit[];
}

const TABLE: readonly Qubit[] = [
  { e01: 0.004, e10: 0.009 },
  { e01: 0.003, e10: 0.006 },
  { e01: 0.02, e10: 0.02 },
  { e01: 0.001, e10: 0.002, sx: 1 }, // dead, though its readout looks best of all
  { e01: 0.005, e10: 0.012 },
  { e01: 0.3, e10: 0.25 }, // not told apart
  { e01: 0.006, e10: 0.01 },
  { e01: 0, e10: 0, isPublished: false },
  { e01: 0.002, e10: 0.008 },
  { e01: 0.001, e10: 0.004 },
  { e01: 0.007, e10: 0.013, isOperational: false },
  { e01: 0.004, e10: 0.005 },
];

export const TEST_DEVICE: IbmDevice = {
  name: 'ibm_test',
  isSimulator: false,
  qubits: TABLE.length,
  basisGates: ['cz', 'id', 'rz', 'sx', 'x'],
  table: TABLE,
};

/** `GET /backends/{id}/configuration`. */
export function configurationOf(device: IbmDevice): object {
  return {
    backend_name: device.name,
    backend_version: '1.0.0',
    n_qubits: device.qubits,
    basis_gates: device.basisGates,
    simulator: device.isSimulator,
    default_rep_delay: 250,
    rep_delay_range: [0, 500],
    processor_type: { family: 'Heron', revision: '2' },
  };
}

/** `GET /backends/{id}/properties`. */
export function propertiesOf(device: IbmDevice, date: string): object {
  const figure = (name: string, value: number, unit = '') => ({ date, name, unit, value });
  return {
    backend_name: device.name,
    backend_version: '1.0.0',
    last_update_date: date,
    qubits: device.table.map(({ e01, e10, isPublished, isOperational }) => [
      figure('T1', 180, 'us'),
      figure('T2', 120, 'us'),
      ...(isPublished === false
        ? []
        : [
            figure('readout_error', (e01 + e10) / 2),
            figure('prob_meas0_prep1', e10),
            figure('prob_meas1_prep0', e01),
          ]),
      ...(isOperational === false ? [figure('operational', 0)] : []),
      figure('readout_length', 1560, 'ns'),
    ]),
    gates: [
      ...device.table.map(({ sx = 0.0003 }, qubit) => ({
        qubits: [qubit],
        gate: 'sx',
        name: `sx${qubit}`,
        parameters: [figure('gate_error', sx), figure('gate_length', 24, 'ns')],
      })),
      // what another gate does is no figure of sx
      { qubits: [1, 0], gate: 'cz', name: 'cz0_1', parameters: [figure('gate_error', 1)] },
    ],
    general: [],
  };
}
