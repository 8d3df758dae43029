import type { ReadoutError } from '../../support/circuits.ts';
import type { Target } from '../../support/providers/program.ts';

/** A device as GetDevice describes it, in the form of the published schemas; its figures are made up. */
export interface LocalDevice {
  readonly arn: string;
  readonly provider: string;
  readonly name: string;
  readonly type: 'QPU' | 'SIMULATOR';
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly rules: Target;
  /** The true errors of the machine's readout. */
  readonly readout: ReadonlyMap<number, ReadoutError>;
}

const header = (name: string, version = '1') => ({ braketSchemaHeader: { name, version } });

const EVERYDAY = [{ executionDay: 'Everyday', windowStartHour: '09:00:00', windowEndHour: '17:59:59' }];

function service(deviceCost: unknown, shotsRange: readonly [number, number], extra: object = {}) {
  return {
    ...header('braket.device_schema.device_service_properties'),
    executionWindows: EVERYDAY,
    shotsRange,
    deviceCost,
    deviceDocumentation: { imageUrl: '', summary: 'A local device', externalDocumentationUrl: '' },
    deviceLocation: 'Loopback',
    updatedAt: '2026-11-20T16:45:26.355472+00:00',
    ...extra,
  };
}

const ACTION = {
  'braket.ir.openqasm.program': { actionType: 'braket.ir.openqasm.program', version: ['1.0'] },
};

/**
 * Qubits 1 to 20 in a ring, as IQM numbers them; qubit 3 reads badly, 7 has no figure, and of `withoutErrors` the fidelity
 * alone is published.
 */
export function gridDevice(withoutErrors?: number): LocalDevice {
  const qubits = Array.from({ length: 20 }, (_, index) => index + 1);
  const readout = new Map(
    qubits.map((qubit) => [qubit, qubit === 3 ? { e01: 0.15, e10: 0.25 } : { e01: 0.01, e10: 0.012 }]),
  );
  const graph = Object.fromEntries(qubits.map((qubit) => [qubit, [String((qubit % 20) + 1)]]));
  const oneQubit = (qubit: number) => {
    const { e01, e10 } = readout.get(qubit)!;
    const fidelity = (name: string, value: number) => ({ fidelityType: { name }, fidelity: value });
    return {
      T1: { value: 3.6e-5, unit: 'S' },
      T2: { value: 8.3e-6, unit: 'S' },
      oneQubitFidelity: [
        fidelity('SIMULTANEOUS_RANDOMIZED_BENCHMARKING', 0.9993),
        ...(qubit === 7
          ? []
          : [
              ...(qubit === withoutErrors
                ? []
                : [fidelity('READOUT_ERROR_0_TO_1', e01), fidelity('READOUT_ERROR_1_TO_0', e10)]),
              fidelity('READOUT', 1 - (e01 + e10) / 2),
            ]),
      ],
    };
  };
  const nativeGates = ['cz', 'prx', 'cc_prx', 'measure_ff', 'barrier'];
  return {
    arn: 'arn:aws:braket:eu-north-1::device/qpu/iqm/Garnet',
    provider: 'IQM',
    name: 'Garnet',
    type: 'QPU',
    capabilities: {
      ...header('braket.device_schema.iqm.iqm_device_capabilities'),
      service: service({ price: 0.00145, unit: 'shot' }, [1, 20_000]),
      action: ACTION,
      deviceParameters: {},
      paradigm: {
        ...header('braket.device_schema.gate_model_qpu_paradigm_properties'),
        qubitCount: 20,
        nativeGateSet: nativeGates,
        connectivity: { fullyConnected: false, connectivityGraph: graph },
      },
      standardized: {
        ...header('braket.device_schema.standardized_gate_model_qpu_device_properties'),
        oneQubitProperties: Object.fromEntries(qubits.map((qubit) => [qubit, oneQubit(qubit)])),
      },
    },
    rules: { gates: nativeGates, qubits, isPhysical: true },
    readout,
  };
}

/**
 * A device that can join any two qubits, like the traps of IonQ and AQT, and publishes figures of the whole device
 * alone.
 */
export function trapDevice(nativeGates: readonly string[]): LocalDevice {
  const qubits = [...new Array(12).keys()];
  const graph = Object.fromEntries(
    qubits.map((a) => [a, qubits.filter((b) => b !== a).map((each) => String(each))]),
  );
  return {
    arn: 'arn:aws:braket:us-east-1::device/qpu/ionq/Forte-1',
    provider: 'IonQ',
    name: 'Forte-1',
    type: 'QPU',
    capabilities: {
      ...header('braket.device_schema.ionq.ionq_device_capabilities'),
      service: service({ price: 0.08, unit: 'shot' }, [100, 5_000], { getTaskPollIntervalMillis: 200 }),
      action: ACTION,
      paradigm: {
        qubitCount: 12,
        nativeGateSet: nativeGates.map((gate) => gate.toUpperCase()),
        connectivity: { fullyConnected: true, connectivityGraph: graph },
      },
      standardized: {
        ...header('braket.device_schema.standardized_gate_model_qpu_device_properties', '3'),
        readoutFidelity: [{ fidelity: 0.9955, unit: 'fraction' }],
        updatedAt: '2026-11-19T00:00:00+00:00',
      },
    },
    rules: { gates: nativeGates, qubits, isPhysical: true },
    readout: new Map(qubits.map((qubit) => [qubit, { e01: 0.002, e10: 0.007 }])),
  };
}

/** SV1: virtual qubits, one program a task, a price by the minute. */
export function simulatorDevice(): LocalDevice {
  const qubits = [...new Array(34).keys()];
  return {
    arn: 'arn:aws:braket:::device/quantum-simulator/amazon/sv1',
    provider: 'Amazon Braket',
    name: 'SV1',
    type: 'SIMULATOR',
    capabilities: {
      service: service({ price: 0.075, unit: 'minute' }, [0, 100_000]),
      action: ACTION,
      paradigm: { qubitCount: 34 },
    },
    rules: { gates: ['h'], qubits, isPhysical: false },
    readout: new Map(qubits.map((qubit) => [qubit, { e01: 0, e10: 0 }])),
  };
}
