// Made of the OpenAPI document by test/generated-client/client-types.ts.
export type components = {
    schemas: {
        readonly IntegersData: {
            /** @description How many. */
            readonly count: number;
            /**
             * Format: int64
             * @description Lower bound, inclusive.
             */
            readonly min: number;
            /**
             * Format: int64
             * @description Upper bound, inclusive; more than min, and at most 2^53 - 1 above it.
             */
            readonly max: number;
            /** @description No value twice; the range must hold at least count values. */
            readonly unique: boolean;
            /**
             * @description Order of the values.
             * @enum {string}
             */
            readonly sort: "none" | "ascending" | "descending";
            /** @description The values, in the order in which they were drawn. */
            readonly values: readonly number[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly BytesData: {
            /** @description How many. */
            readonly count: number;
            /**
             * @description hex in lower case, or base64 with padding (RFC 4648 §4).
             * @enum {string}
             */
            readonly encoding: "hex" | "base64";
            /** @description Eight times count. */
            readonly bits: number;
            /** @description In the encoding asked for. */
            readonly bytes: string;
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly FloatsData: {
            /** @description How many. */
            readonly count: number;
            /**
             * Format: int64 @description Decimal places p: values are uniform on k / 10^p, 0 <= k < 10^p. Left out:
             * uniform multiples of 2^-53.
             */
            readonly precision: number | null;
            /** @description The values, in the order in which they were drawn. */
            readonly values: readonly number[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly UuidData: {
            /** @description How many. */
            readonly count: number;
            /**
             * @description The version of the UUIDs.
             * @constant
             */
            readonly version: 4;
            /** @description The UUIDs. */
            readonly uuids: readonly string[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly BitstringData: {
            /**
             * Format: int64
             * @description How many bits.
             */
            readonly length: number;
            /** @description The bits, as a text of 0 and 1. */
            readonly bitstring: string;
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly ShuffleData: {
            /** @description How many. */
            readonly count: number;
            /** @description The items. */
            readonly items: readonly string[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly BatchData: {
            /** @description Lists of numbers for permutations, lists of such lists for sequences. */
            readonly values: readonly (number | string | readonly unknown[])[];
            /** @description How many. */
            readonly count: number;
            /**
             * @description The kind.
             * @enum {string}
             */
            readonly type: "integers" | "floats" | "bytes" | "uuid" | "sample" | "weighted" | "strings" | "sequences" | "permutations" | "gaussians";
            /** @description The effective parameters of the type, defaults included. */
            readonly params: {
                /**
                 * Format: int64
                 * @description Lower bound, inclusive.
                 */
                readonly min: number;
                /**
                 * Format: int64
                 * @description Upper bound, inclusive; more than min, and at most 2^53 - 1 above it.
                 */
                readonly max: number;
                /** @description No value twice; the range must hold at least count values. */
                readonly unique: boolean;
                /**
                 * @description Order of the values.
                 * @enum {string}
                 */
                readonly sort: "none" | "ascending" | "descending";
            } | {
                /**
                 * Format: int64 @description Decimal places p: values are uniform on k / 10^p, 0 <= k < 10^p. Left out:
                 * uniform multiples of 2^-53.
                 */
                readonly precision: number | null;
            } | {
                /**
                 * @description hex in lower case, or base64 with padding (RFC 4648 §4).
                 * @enum {string}
                 */
                readonly encoding: "hex" | "base64";
                /**
                 * Format: int64
                 * @description Bytes per value.
                 */
                readonly length: number;
            } | Record<string, unknown> | {
                /** @description Of the list that was drawn from: SHA-256 of its JSON without spaces. */
                readonly list_sha256: string;
                /** @description How many items there were. */
                readonly of: number;
            } | {
                /** @description Of the list that was drawn from: SHA-256 of its JSON without spaces. */
                readonly list_sha256: string;
                /**
                 * @description A whole number from 1 on for each item, in their order. Item i is drawn with probability
                 * weights[i] / sum, exactly; the sum is at most 2^53.
                 */
                readonly weights: readonly number[];
            } | {
                /**
                 * Format: int64
                 * @description Characters of each string.
                 */
                readonly length: number;
                /** @description The characters to choose from: 2 to 1,000 Unicode code points, none twice. */
                readonly alphabet: string;
            } | {
                /** @description How many numbers each sequence has. */
                readonly length: readonly number[];
                /** @description Lower bound of each sequence, inclusive. */
                readonly min: readonly number[];
                /**
                 * @description Upper bound of each sequence, inclusive; more than its min, and at most 2^53 - 1 above
                 * it.
                 */
                readonly max: readonly number[];
                /** @description No number twice in a sequence; each range must hold its length of values. */
                readonly unique: boolean;
                /**
                 * @description Order of the numbers in each sequence.
                 * @enum {string}
                 */
                readonly sort: "none" | "ascending" | "descending";
            } | {
                /**
                 * Format: int64
                 * @description Each permutation is of the numbers from 0 to length - 1.
                 */
                readonly length: number;
            } | {
                /** @description Mean of the normal distribution: exactly the decimal that the answer echoes. */
                readonly mean: number;
                /** @description Standard deviation, likewise. */
                readonly stddev: number;
                /**
                 * Format: int64
                 * @description Significant decimal digits that each value is rounded to, exactly.
                 */
                readonly digits: number;
            };
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly SampleData: {
            /** @description How many. */
            readonly count: number;
            /** @description Of the list that was drawn from: SHA-256 of its JSON without spaces. */
            readonly list_sha256: string;
            /** @description How many items there were. */
            readonly of: number;
            /** @description The items. */
            readonly items: readonly string[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly WeightedData: {
            /** @description How many. */
            readonly count: number;
            /** @description Of the list that was drawn from: SHA-256 of its JSON without spaces. */
            readonly list_sha256: string;
            /**
             * @description A whole number from 1 on for each item, in their order. Item i is drawn with probability
             * weights[i] / sum, exactly; the sum is at most 2^53.
             */
            readonly weights: readonly number[];
            /** @description The items. */
            readonly items: readonly string[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly StringsData: {
            /** @description How many. */
            readonly count: number;
            /**
             * Format: int64
             * @description Characters of each string.
             */
            readonly length: number;
            /** @description The characters to choose from: 2 to 1,000 Unicode code points, none twice. */
            readonly alphabet: string;
            /** @description The values, in the order in which they were drawn. */
            readonly values: readonly string[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly SequencesData: {
            /** @description How many. */
            readonly count: number;
            /** @description How many numbers each sequence has. */
            readonly length: readonly number[];
            /** @description Lower bound of each sequence, inclusive. */
            readonly min: readonly number[];
            /**
             * @description Upper bound of each sequence, inclusive; more than its min, and at most 2^53 - 1 above it.
             */
            readonly max: readonly number[];
            /** @description No number twice in a sequence; each range must hold its length of values. */
            readonly unique: boolean;
            /**
             * @description Order of the numbers in each sequence.
             * @enum {string}
             */
            readonly sort: "none" | "ascending" | "descending";
            /** @description Each entry holds one list for each sequence. */
            readonly values: readonly (readonly (readonly number[])[])[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly PermutationsData: {
            /** @description How many. */
            readonly count: number;
            /**
             * Format: int64
             * @description Each permutation is of the numbers from 0 to length - 1.
             */
            readonly length: number;
            /** @description The values, in the order in which they were drawn. */
            readonly values: readonly (readonly number[])[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly GaussiansData: {
            /** @description How many. */
            readonly count: number;
            /** @description Mean of the normal distribution: exactly the decimal that the answer echoes. */
            readonly mean: number;
            /** @description Standard deviation, likewise. */
            readonly stddev: number;
            /**
             * Format: int64
             * @description Significant decimal digits that each value is rounded to, exactly.
             */
            readonly digits: number;
            /** @description The values, in the order in which they were drawn. */
            readonly values: readonly number[];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The processor; none in csprng mode. */
                readonly quantum_source: string;
            };
        };
        readonly IntegersAnswer: {
            /** @description What was asked for. */
            readonly data: components["schemas"]["IntegersData"];
            /** @description Where the values came from, and the request. */
            readonly metadata: components["schemas"]["Metadata"];
            /** @description The request, as the entropy-mode variant of the specification names it. */
            readonly meta: components["schemas"]["Meta"];
            /** @description The credits of pure mode. */
            readonly quantum_credits: components["schemas"]["Credits"];
            /** @description What the request said of the answer. */
            readonly label?: {
                /** @description Whether the certificate shows purpose and user_data. */
                readonly public: boolean;
                /** @description What the values are for. */
                readonly purpose?: string;
                /** @description The answers of one account under a purpose. */
                readonly series?: string;
                /** @description What the answer was bound to. */
                readonly user_data?: string;
                /** @description SHA-256 of what the answer was bound to. */
                readonly user_data_sha256?: string;
            };
            /**
             * @description In pure mode, base64: the drawn pieces, the hashes that lead to the roots of their blocks,
             * and their salts. Absent in long answers.
             */
            readonly opening?: {
                /** @description Bytes, encoded or counted. */
                readonly bytes: string;
                /** @description Hashes from the leaf to the root. */
                readonly path: string;
                /** @description The salts of the pieces. */
                readonly salts: string;
            };
        };
        readonly DrawAnswer: {
            /** @description What was asked for. */
            readonly data: components["schemas"]["BytesData"];
            /** @description Where the values came from, and the request. */
            readonly metadata: components["schemas"]["Metadata"];
            /** @description The request, as the entropy-mode variant of the specification names it. */
            readonly meta: components["schemas"]["Meta"];
            /** @description What the request said of the answer. */
            readonly label?: {
                /** @description Whether the certificate shows purpose and user_data. */
                readonly public: boolean;
                /** @description What the values are for. */
                readonly purpose?: string;
                /** @description The answers of one account under a purpose. */
                readonly series?: string;
                /** @description What the answer was bound to. */
                readonly user_data?: string;
                /** @description SHA-256 of what the answer was bound to. */
                readonly user_data_sha256?: string;
            };
            /**
             * @description In pure mode, base64: the drawn pieces, the hashes that lead to the roots of their blocks,
             * and their salts. Absent in long answers.
             */
            readonly opening?: {
                /** @description Bytes, encoded or counted. */
                readonly bytes: string;
                /** @description Hashes from the leaf to the root. */
                readonly path: string;
                /** @description The salts of the pieces. */
                readonly salts: string;
            };
        };
        /** @description The answer to dry_run=true: nothing was drawn. */
        readonly Quote: {
            /** @description What was asked for. */
            readonly data: {
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly mode: "quantum-seeded" | "pure" | "csprng";
                /** @description What it would cost in pure mode. */
                readonly required_bytes: number;
            };
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /** @description Names the request; the same 128 bits as X-Request-ID. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description When the request came in.
                 */
                readonly timestamp: string;
            };
            /** @description The request, as the entropy-mode variant of the specification names it. */
            readonly meta: components["schemas"]["Meta"];
            /** @description The credits of pure mode. */
            readonly quantum_credits: components["schemas"]["Credits"];
        };
        readonly Metadata: {
            /** @description For GET /v1/certificate. */
            readonly certificate_id: string;
            /** @description The salt of hashes.delivered; for the caller alone, never stored. */
            readonly certificate_salt: string;
            /** @description Entropy really drawn, rejected draws included. */
            readonly entropy_consumed_bytes: number;
            /**
             * @description What kind of thing produced the raw bits; never upgraded.
             * @enum {string}
             */
            readonly entropy_origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
            /** @description Name of the circuit; none in csprng mode. */
            readonly lang_circuit: string;
            /** @description Version of the circuit compiler. */
            readonly lang_version: string;
            /** @description SP 800-22 passed on the bits that the answer was drawn from. */
            readonly nist_verified: boolean;
            /** @description A constant label. */
            readonly powered_by: string;
            /** @description Milliseconds from the request to the answer. */
            readonly processing_time_ms: number;
            /** @description The processor; none in csprng mode. */
            readonly quantum_backend: string;
            /** @description Names the request; the same 128 bits as X-Request-ID. */
            readonly request_id: string;
            /**
             * Format: date-time
             * @description When the request came in; ISO 8601 in UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uri
             * @description Where anybody reads and checks the certificate.
             */
            readonly verify_url: string;
        };
        readonly Meta: {
            /** @description As metadata.processing_time_ms. */
            readonly duration_ms: number;
            /**
             * Format: uuid
             * @description Names the request, as a UUID.
             */
            readonly request_id: string;
        };
        /** @description Bytes of pure mode; 2^53 - 1 stands for unlimited. */
        readonly Credits: {
            /** @description Credits left; 2^53 - 1 stands for unlimited. */
            readonly remaining: number;
            /** @description Credits of the month; 2^53 - 1 stands for unlimited. */
            readonly total: number;
            /** @description By this request. */
            readonly used: number;
        };
        readonly CertificateDocument: {
            /** @description The certificate: where the entropy came from, how it was tested, and what was delivered. */
            readonly certificate: {
                /**
                 * @description Of this form.
                 * @constant
                 */
                readonly version: 1;
                /** @description Names the certificate. */
                readonly id: string;
                /**
                 * Format: date-time
                 * @description When the answer was made.
                 */
                readonly issued_at: string;
                /** @description Names the request; the same 128 bits as X-Request-ID. */
                readonly request_id: string;
                /**
                 * @description The endpoint that was asked.
                 * @enum {string}
                 */
                readonly endpoint: "integers" | "bytes" | "floats" | "uuid" | "bitstring" | "shuffle" | "batch" | "sample" | "weighted" | "strings" | "sequences" | "permutations" | "gaussians";
                /**
                 * @description The mode that was used.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description Where the entropy came from. */
                readonly provenance: {
                    /** @description The circuit of the first lot. */
                    readonly lang_circuit: string;
                    /** @description The version of its compiler. */
                    readonly lang_version: string;
                    /** @description The quantum processor of the first lot. */
                    readonly quantum_backend: string;
                    /** @description Qubits of the circuit. */
                    readonly qubits_used: number;
                    /** @description Depth of the circuit. */
                    readonly circuit_depth: number;
                    /**
                     * @description What kind of thing produced the raw bits: the weakest of the lots; never upgraded.
                     * @enum {string}
                     */
                    readonly origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
                    /**
                     * @description Every lot, in the order in which they were drawn from, with the hash of its leaf in
                     * the log.
                     */
                    readonly lots: readonly {
                        /** @description Names it. */
                        readonly id: string;
                        /** @description The leaf of the log: canonical JSON, or its hash. */
                        readonly leaf: string;
                    }[];
                    /**
                     * @description How quantum the lots are shown to be: the weakest claim of them.
                     * @enum {string}
                     */
                    readonly evidence?: "simulated" | "statistical" | "calibrated";
                    /**
                     * @description The generator that was mixed in, or that gave the values of csprng.
                     * @enum {string}
                     */
                    readonly system_entropy?: "kernel" | "openssl";
                    /** @description Which of the seeds of the lot served. */
                    readonly seed?: {
                        /** @description The place, from 0. */
                        readonly index: number;
                    };
                    /**
                     * @description Which of the pure bytes of the lots were drawn, in order; `lot` is the place in
                     * `lots`.
                     */
                    readonly drawn?: readonly {
                        /** @description The place of the lot in the list of lots. */
                        readonly lot: number;
                        /** @description The first byte. */
                        readonly offset: number;
                        /** @description Bytes, encoded or counted. */
                        readonly bytes: number;
                    }[];
                    /**
                     * @description The lot is a sample of the stream that gave the values, and not what they were drawn
                     * from. @constant
                     */
                    readonly sample?: true;
                };
                /** @description How the bits were tested. */
                readonly verification: {
                    /**
                     * @description `<passed>/<total> passed` of the tested windows that the answer was drawn from, or
                     * `not tested`.
                     */
                    readonly nist_sp800_22: string;
                    /** @description Every bit that the answer drew on lies in a tested window that passed. */
                    readonly nist_verified: boolean;
                    /**
                     * @description That test is not implemented.
                     * @constant
                     */
                    readonly dieharder: "not implemented";
                    /** @description Estimated on raw bits: the least of the lots. */
                    readonly min_entropy_per_bit: number | null;
                };
                /** @description SHA-256 digests. */
                readonly hashes: {
                    /** @description Of the raw bits of the lot; of several, of their digests joined. */
                    readonly raw_output: string;
                    /** @description Of the conditioned bytes, joined likewise. */
                    readonly processed: string;
                    /** @description Of the salt and what was delivered. */
                    readonly delivered: string;
                };
                /**
                 * @description What holds now; not part of what was signed.
                 * @enum {string}
                 */
                readonly status: "valid" | "revoked" | "test";
                /**
                 * Format: uri
                 * @description The public page; not part of what was signed.
                 */
                readonly verify_url: string;
                /** @description c2sp.org/tlog-proof; null for a moment after the answer. */
                readonly proof: string | null;
                /**
                 * @description Of an answer of bare values: what `hashes.delivered` is over. Left out where it is over
                 * JSON.
                 */
                readonly media_type?: string;
                /** @description What the caller said of the answer. */
                readonly label?: {
                    /** @description Whether the certificate shows purpose and user_data. */
                    readonly public: boolean;
                    /** @description In a public label. */
                    readonly purpose?: string;
                    /** @description In a private label: of a byte 04, the salt and the purpose. */
                    readonly purpose_commitment?: string;
                    /** @description Names the account and the purpose together. */
                    readonly series?: string;
                    /** @description Place among all answers of the series, from 1, none left out. */
                    readonly serial?: number;
                    /** @description In a public label. */
                    readonly user_data?: string;
                    /** @description SHA-256 of what the answer was bound to. */
                    readonly user_data_sha256?: string;
                    /** @description In a private label: of a byte 05, the salt and the user data. */
                    readonly user_data_commitment?: string;
                };
            };
            /** @description The lots of `provenance.lots`, in the same order. */
            readonly lots: readonly {
                /** @description The lot, whole: `provenance.lots` has the hash of its canonical JSON as a leaf. */
                readonly leaf: {
                    /**
                     * @description The kind of the leaf.
                     * @constant
                     */
                    readonly type: "lot";
                    /**
                     * @description Of this form.
                     * @constant
                     */
                    readonly version: 1;
                    /** @description Names the lot. */
                    readonly lot_id: string;
                    /** @description The source, as the operator named it. */
                    readonly source: string;
                    /** @description Who runs the device. */
                    readonly provider: string;
                    /** @description The device, as its provider names it. */
                    readonly device: string;
                    /** @description The identifier of the quantum processor. */
                    readonly quantum_backend: string;
                    /** @description The provider’s name of the job. */
                    readonly job_id: string | null;
                    /**
                     * @description What kind of thing produced the raw bits.
                     * @enum {string}
                     */
                    readonly origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
                    /** @description The operator alone says that the origin is quantum. */
                    readonly declared: boolean;
                    /** @description Made by a deterministic test source. */
                    readonly deterministic: boolean;
                    /** @description The circuit. */
                    readonly lang_circuit: string;
                    /** @description The version of the circuit compiler. */
                    readonly lang_version: string;
                    /** @description Of the circuit as it was submitted. */
                    readonly circuit_sha256: string | null;
                    /** @description Qubits of the circuit. */
                    readonly qubits_used: number;
                    /** @description Depth of the circuit. */
                    readonly circuit_depth: number;
                    /** @description Times that the circuit was run. */
                    readonly shots: number;
                    /**
                     * @description The calibration as its provider names it, and the hash of all of it as RFC 8785
                     * prints it.
                     */
                    readonly calibration: {
                        /** @description Names it. */
                        readonly id: string | null;
                        /** @description The day, in UTC. */
                        readonly date: string | null;
                        /** @description SHA-256 of what it names. */
                        readonly digest: string;
                    } | null;
                    /**
                     * @description The certificates of another service under which the raw bits came; null where they
                     * came from a source itself.
                     */
                    readonly upstream: {
                        /** @description The name of the log that holds them. */
                        readonly log: string;
                        /**
                         * @description The weakest that they name.
                         * @enum {string}
                         */
                        readonly origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
                        /** @description Of each its id, and the hash of its leaf in that log. */
                        readonly certificates: readonly {
                            /** @description Names it. */
                            readonly id: string;
                            /** @description The leaf of the log: canonical JSON, or its hash. */
                            readonly leaf: string;
                        }[];
                    } | null;
                    /**
                     * Format: date-time
                     * @description When the read ended.
                     */
                    readonly finished_at: string;
                    /** @description Bits that were read. */
                    readonly raw_bits: number;
                    /** @description Of the raw bits as the backend delivered them. */
                    readonly raw_output: string;
                    /** @description Of the bytes after conditioning. */
                    readonly processed: string;
                    /** @description The continuous health tests (SP 800-90B 4.4). */
                    readonly health: {
                        /** @description Raw bits that were tested. */
                        readonly samples: number;
                        /** @description Alarms of the repetition count test. */
                        readonly rct_failures: number;
                        /** @description Alarms of the adaptive proportion test. */
                        readonly apt_failures: number;
                    };
                    /** @description SP 800-90B 6.3 on the raw bits; null where too few were read. */
                    readonly min_entropy_per_bit: number | null;
                    /**
                     * @description Windows of raw bits that were assessed; together they cover every bit in both
                     * orders.
                     */
                    readonly raw_windows: number;
                    /** @description Runs of SP 800-22. What lay in a conditioned window that failed was erased. */
                    readonly tested: readonly {
                        /**
                         * @description What was tested: system is the csprng stream.
                         * @enum {string}
                         */
                        readonly of: "raw" | "conditioned" | "system";
                        /** @description How many bits. */
                        readonly bits: number;
                        /** @description Place of the first bit. */
                        readonly first_bit: number;
                        /** @description Of the bits, packed. */
                        readonly sha256: string;
                        /** @description How many p-values passed. */
                        readonly passed: number;
                        /** @description All of them. */
                        readonly total: number;
                        /** @description The smallest p-value. */
                        readonly smallest_p: number;
                        /** @description Whether the tests passed. */
                        readonly verified: boolean;
                        /**
                         * @description Of raw bits: shot after shot, or channel after channel.
                         * @enum {string}
                         */
                        readonly order?: "shots" | "channels";
                        /** @description Why it is not verified. */
                        readonly reason?: string;
                    }[];
                    /** @description How quantum the lot is shown to be; null for a sample of the csprng stream. */
                    readonly evidence: {
                        /**
                         * @description From the weakest to the strongest; never promoted.
                         * @enum {string}
                         */
                        readonly claim: "simulated" | "statistical" | "calibrated";
                        /** @description Per raw bit, under the assumptions. */
                        readonly min_entropy_per_bit: number | null;
                        /** @description By name. */
                        readonly figures: {
                            readonly [key: string]: number;
                        };
                        /** @description The formula and where it is published. */
                        readonly method: string;
                        /** @description What must be true for it to hold. */
                        readonly assumptions: string;
                        /** @description The stronger claims, and why they are not made. */
                        readonly not_reached: readonly {
                            /**
                             * @description From the weakest to the strongest; never promoted.
                             * @enum {string}
                             */
                            readonly claim: "simulated" | "statistical" | "calibrated";
                            /** @description Why not. */
                            readonly why: string;
                        }[];
                    } | null;
                    /** @description The blocks of pure mode, and the root of the tree over the roots of their trees. */
                    readonly pure: {
                        /** @description Bytes, encoded or counted. */
                        readonly bytes: number;
                        /** @description Bytes of one block. */
                        readonly block_bytes: number;
                        /** @description Bytes of one piece. */
                        readonly piece_bytes: number;
                        /** @description The root of the tree over them. */
                        readonly root: string;
                    };
                    /** @description The seeds, and the root of the tree over their hashes. */
                    readonly seeds: {
                        /** @description How many. */
                        readonly count: number;
                        /** @description The root of the tree over them. */
                        readonly root: string;
                    };
                } & {
                    readonly [key: string]: unknown;
                };
                /**
                 * @description c2sp.org/tlog-proof of the leaf; null for a sample of the csprng stream that is not
                 * logged yet.
                 */
                readonly proof: string | null;
                /** @description Proofs of the pieces that were drawn. */
                readonly runs: readonly {
                    /** @description The index of the first. */
                    readonly first: number;
                    /** @description SHA-256 digests. */
                    readonly hashes: readonly string[];
                    /** @description Hashes from the leaf to the root. */
                    readonly path: readonly string[];
                }[];
            }[];
            /** @description The withdrawal of a lot that the answer drew on. */
            readonly revocation?: {
                /** @description The id of the lot. */
                readonly lot_id: string;
                /** @description Why. */
                readonly reason: string;
                /**
                 * Format: date-time
                 * @description When it was withdrawn.
                 */
                readonly revoked_at: string;
            };
            /** @description Where the values came from, and the request. */
            readonly metadata?: {
                /** @description Names the request; the same 128 bits as X-Request-ID. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description When the request came in.
                 */
                readonly timestamp: string;
                /** @description Name of the circuit; none where nothing was drawn. */
                readonly lang_circuit: string;
                /** @description Version of the circuit compiler; none where nothing was drawn. */
                readonly lang_version: string;
                /** @description The processor; none where nothing was drawn. */
                readonly quantum_backend: string;
                /** @description SP 800-22 passed on the bits that were drawn from; false where nothing was drawn. */
                readonly nist_verified: boolean;
                /** @description A constant label. */
                readonly powered_by: string;
            };
        };
        /** @description 2^53 - 1 stands for unlimited. */
        readonly Usage: {
            /** @description What was asked for. */
            readonly data: {
                /** @description The calendar month, in UTC. */
                readonly period: string;
                /**
                 * Format: date-time
                 * @description When it begins.
                 */
                readonly starts_at: string;
                /**
                 * Format: date-time
                 * @description When it ends.
                 */
                readonly ends_at: string;
                /**
                 * @description The tier of the account.
                 * @enum {string}
                 */
                readonly tier: "free" | "developer" | "pro" | "business" | "enterprise";
                /** @description Requests for values that were answered. */
                readonly requests: {
                    /** @description What was used. */
                    readonly used: number;
                    /** @description The most. */
                    readonly limit: number;
                    /** @description What is left. */
                    readonly remaining: number;
                };
                /** @description Where the account stands with its rate. */
                readonly rate: {
                    /** @description Requests a minute. */
                    readonly limit_per_minute: number;
                    /** @description Requests that may come at once. */
                    readonly burst: number;
                    /** @description What is left. */
                    readonly remaining: number;
                    /**
                     * Format: date-time
                     * @description When the full burst is there again.
                     */
                    readonly reset_at: string;
                };
                /** @description Bytes of pure mode. */
                readonly credits: {
                    /** @description All of them. */
                    readonly total: number;
                    /** @description What was used. */
                    readonly used: number;
                    /** @description What is left. */
                    readonly remaining: number;
                };
                /** @description The same by endpoint. */
                readonly by_endpoint: {
                    /** @description How much of it was used. */
                    readonly integers: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly bytes: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly floats: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly uuid: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly bitstring: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly shuffle: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly batch: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly sample: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly weighted: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly strings: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly sequences: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly permutations: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly gaussians: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                };
                /** @description The same by entropy mode. */
                readonly by_mode: {
                    /** @description How much of it was used. */
                    readonly "quantum-seeded": {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly pure: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                    /** @description How much of it was used. */
                    readonly csprng: {
                        /** @description Requests for values that were answered. */
                        readonly requests: number;
                        /** @description How many values they had. */
                        readonly values: number;
                        /** @description Bytes that their certificates commit to. */
                        readonly bytes: number;
                    };
                };
                /** @description The last 31 days, oldest first, today included. */
                readonly days: readonly {
                    /**
                     * Format: date
                     * @description The day, in UTC.
                     */
                    readonly date: string;
                    /** @description Requests for values that were answered. */
                    readonly requests: number;
                    /** @description How many values they had. */
                    readonly values: number;
                    /** @description Bytes that their certificates commit to. */
                    readonly bytes: number;
                    /** @description Bytes of pure mode. */
                    readonly credits: number;
                }[];
            };
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /** @description Names the request; the same 128 bits as X-Request-ID. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description When the request came in.
                 */
                readonly timestamp: string;
                /** @description Name of the circuit; none where nothing was drawn. */
                readonly lang_circuit: string;
                /** @description Version of the circuit compiler; none where nothing was drawn. */
                readonly lang_version: string;
                /** @description The processor; none where nothing was drawn. */
                readonly quantum_backend: string;
                /** @description SP 800-22 passed on the bits that were drawn from; false where nothing was drawn. */
                readonly nist_verified: boolean;
                /** @description A constant label. */
                readonly powered_by: string;
            };
        };
        readonly Tiers: {
            /** @description What was asked for. */
            readonly data: {
                /** @description The tiers. */
                readonly tiers: readonly {
                    /**
                     * @description The tier of the account.
                     * @enum {string}
                     */
                    readonly tier: "free" | "developer" | "pro" | "business" | "enterprise";
                    /** @description The sustained rate. */
                    readonly requests_per_minute: number | null;
                    /** @description Requests that may come at once; also the most in any 60 seconds. */
                    readonly burst: number | null;
                    /** @description Answered requests for values. */
                    readonly requests_per_month: number | null;
                    /** @description Bytes of pure mode. */
                    readonly credits_per_month: number | null;
                    /** @description The modes that the tier has, the default first. */
                    readonly entropy_modes: readonly ("quantum-seeded" | "pure" | "csprng")[];
                    /**
                     * @description The mode of a request that names none.
                     * @enum {string}
                     */
                    readonly default_entropy_mode: "quantum-seeded" | "pure" | "csprng";
                    /** @description How often quantum-seeded takes a new seed; null without it. */
                    readonly seed_interval_s: number | null;
                    /** @description What keys may be allowed. */
                    readonly scopes: readonly ("entropy:read" | "entropy:batch" | "certificate:read" | "usage:read" | "health:read")[];
                    /** @description Each account agrees on figures of its own; they are null here. */
                    readonly custom: boolean;
                }[];
                /** @description What pure mode costs. */
                readonly prices: readonly {
                    /** @description The kind of values. */
                    readonly kind: string;
                    /** @description The entropy of the answer; the price is an eighth of it, rounded up once. */
                    readonly bits: string;
                    /** @description A request with this price. */
                    readonly example: string;
                    /** @description The price of the example. */
                    readonly credits: number;
                }[];
                /** @description The most that one request may ask for. */
                readonly limits: {
                    /** @description The most in one request. */
                    readonly integers_count: number;
                    /** @description The most in one request. */
                    readonly bytes_count: number;
                    /** @description The most in one request. */
                    readonly floats_count: number;
                    /** @description The most in one request. */
                    readonly uuid_count: number;
                    /** @description The most in one request. */
                    readonly bitstring_length: number;
                    /** @description The most in one request. */
                    readonly shuffle_items: number;
                    /** @description The most in one request. */
                    readonly batch_count: number;
                };
            };
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /** @description Names the request; the same 128 bits as X-Request-ID. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description When the request came in.
                 */
                readonly timestamp: string;
                /** @description Name of the circuit; none where nothing was drawn. */
                readonly lang_circuit: string;
                /** @description Version of the circuit compiler; none where nothing was drawn. */
                readonly lang_version: string;
                /** @description The processor; none where nothing was drawn. */
                readonly quantum_backend: string;
                /** @description SP 800-22 passed on the bits that were drawn from; false where nothing was drawn. */
                readonly nist_verified: boolean;
                /** @description A constant label. */
                readonly powered_by: string;
            };
        };
        readonly Health: {
            /** @description What was asked for. */
            readonly data: components["schemas"]["HealthReport"];
            /** @description Where the values came from, and the request. */
            readonly metadata: {
                /** @description Names the request; the same 128 bits as X-Request-ID. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description When the request came in.
                 */
                readonly timestamp: string;
                /** @description Name of the circuit; none where nothing was drawn. */
                readonly lang_circuit: string;
                /** @description Version of the circuit compiler; none where nothing was drawn. */
                readonly lang_version: string;
                /** @description The processor; none where nothing was drawn. */
                readonly quantum_backend: string;
                /** @description SP 800-22 passed on the bits that were drawn from; false where nothing was drawn. */
                readonly nist_verified: boolean;
                /** @description A constant label. */
                readonly powered_by: string;
            };
        };
        readonly HealthReport: {
            /**
             * @description fail when nothing can be answered, warn when any check is not pass.
             * @enum {string}
             */
            readonly status: "pass" | "warn" | "fail";
            /** @description The version of the API. */
            readonly version: string;
            /** @description The version of the software. */
            readonly releaseId: string;
            /**
             * Format: date-time
             * @description When it was observed.
             */
            readonly time: string;
            /** @description By component and what was measured of it (draft-inadarei-api-health-check-06 §4). */
            readonly checks: {
                readonly [key: string]: readonly {
                    /** @enum {string} */
                    readonly componentType: "datastore" | "component" | "system";
                    /**
                     * @description The state.
                     * @enum {string}
                     */
                    readonly status: "pass" | "warn" | "fail";
                    readonly observedValue?: number | string | boolean | null;
                    readonly observedUnit?: string;
                    /** @description What is wrong. */
                    readonly output?: string;
                    readonly details?: Record<string, unknown>;
                }[];
            };
        };
        readonly Error: {
            /** @description What was wrong. */
            readonly error: {
                /**
                 * @description What programs should look at.
                 * @enum {string}
                 */
                readonly code: "bad_request" | "invalid_count" | "invalid_range" | "unique_impossible" | "invalid_boolean" | "invalid_sort" | "invalid_encoding" | "invalid_precision" | "invalid_length" | "invalid_items" | "invalid_weights" | "invalid_alphabet" | "invalid_mean" | "invalid_stddev" | "invalid_digits" | "invalid_sequences" | "invalid_type" | "invalid_params" | "invalid_json" | "invalid_id" | "invalid_format" | "invalid_entropy_mode" | "invalid_purpose" | "invalid_series" | "invalid_user_data" | "invalid_draw" | "invalid_draw_id" | "list_mismatch" | "invalid_nonce" | "invalid_beacon" | "beacon_round_past" | "invalid_reveal_at" | "invalid_idempotency_key" | "duplicate_parameter" | "unknown_parameter" | "pure_too_large" | "auth_missing" | "auth_invalid" | "credits_exhausted" | "auth_scope" | "mode_not_allowed" | "not_found" | "cert_not_found" | "draw_not_found" | "method_not_allowed" | "not_acceptable" | "idempotency_in_flight" | "draw_ended" | "draw_due" | "payload_too_large" | "unsupported_media_type" | "idempotency_mismatch" | "rate_limited" | "quota_exceeded" | "idempotency_full" | "draws_full" | "head_too_large" | "internal_error" | "entropy_unavailable" | "beacon_unavailable" | "overloaded" | "shutting_down" | "storage_unavailable";
                /** @description What to do. */
                readonly message: string;
                /** @description The state. */
                readonly status: number;
                /** @description Names the request; the same 128 bits as X-Request-ID. */
                readonly request_id: string;
                /** @description Facts for programs; which ones depends on the code. */
                readonly details?: Record<string, unknown>;
            };
        };
        readonly Draw: {
            /**
             * @description The kind.
             * @constant
             */
            readonly type: "draw";
            /**
             * @description The version of the form.
             * @constant
             */
            readonly version: 1;
            /** @description Whoever has it can read the draw. */
            readonly id: string;
            /**
             * @description Where the draw stands.
             * @enum {string}
             */
            readonly state: "committed" | "revealed" | "cancelled" | "failed";
            /** @description What was fixed before anybody could know the outcome. */
            readonly statement: {
                /**
                 * @description The kind.
                 * @constant
                 */
                readonly type: "draw_statement";
                /**
                 * @description The version of the form.
                 * @constant
                 */
                readonly version: 1;
                /** @description Names it. */
                readonly id: string;
                /** @description What is drawn, every default written out; kind says of which kind. */
                readonly request: Record<string, unknown>;
                /** @description What the values are for. */
                readonly purpose: string;
                /** @description Whether the certificate shows purpose and user_data. */
                readonly public: boolean;
                /**
                 * Format: date-time
                 * @description When the draw is due.
                 */
                readonly due_at: string;
                /** @description The list that is drawn from. */
                readonly list?: {
                    /** @description Of its items, each in UTF-8 with a line feed behind it. */
                    readonly sha256: string;
                    /** @description How many items it has. */
                    readonly size: number;
                };
                /** @description What the draw is bound to. */
                readonly user_data?: string;
                /** @description Of what the draw is bound to. */
                readonly user_data_sha256?: string;
                /** @description Bytes of the caller that enter the values, in hex. */
                readonly nonce?: string;
                /** @description Of bytes that the caller opens later. */
                readonly nonce_sha256?: string;
                /** @description The round of a public beacon that enters the values. */
                readonly beacon?: {
                    /** @description The hash of its chain. */
                    readonly chain: string;
                    /** @description The number of the round. */
                    readonly round: number;
                };
                /**
                 * Format: date-time
                 * @description When the draw fails if the round or the nonce is still missing.
                 */
                readonly gives_up_at?: string;
            };
            /** @description SHA-256 of the statement as canonical JSON. */
            readonly statement_sha256: string;
            /**
             * Format: date-time
             * @description When the draw was fixed.
             */
            readonly committed_at: string;
            /** @description The id of the certificate. */
            readonly certificate_id: string;
            /** @description Of the committed bytes; null until it can be read. */
            readonly certificate: components["schemas"]["CertificateDocument"] | null;
            /** @description The leaf of the log that fixes the draw. */
            readonly commit: {
                /** @description The leaf, as canonical JSON. */
                readonly leaf: string;
                /** @description c2sp.org/tlog-proof; null until the leaf is logged. */
                readonly proof: string | null;
            };
            /**
             * @description The answer whose bytes were committed, without what its account has left; null before the
             * end.
             */
            readonly answer: components["schemas"]["DrawAnswer"] | null;
            /** @description What the beacon’s chain says of itself; its hash names it. */
            readonly chain: Record<string, unknown> | null;
            /** @description How the draw ended, with its values; null before the end. */
            readonly outcome: {
                /**
                 * @description The kind.
                 * @constant
                 */
                readonly type: "draw_outcome";
                /**
                 * @description The version of the form.
                 * @constant
                 */
                readonly version: 1;
                /** @description SHA-256 of the statement as canonical JSON. */
                readonly statement_sha256: string;
                /**
                 * @description How the draw ended, forever.
                 * @enum {string}
                 */
                readonly state: "revealed" | "cancelled" | "failed";
                /**
                 * @description Null where it was revealed.
                 * @enum {string|null}
                 */
                readonly reason: "cancelled" | "beacon_missing" | "beacon_wrong" | "nonce_missing" | "secret_lost" | null;
                /** @description The 32 bytes that were committed, in hex. */
                readonly secret: string | null;
                /** @description The bytes of the caller, in hex. */
                readonly nonce: string | null;
                /** @description The round that entered the values. */
                readonly beacon: {
                    /** @description The hash of its chain. */
                    readonly chain: string;
                    /** @description The number of the round. */
                    readonly round: number;
                    /** @description What the beacon signed the round with, in hex. */
                    readonly signature: string;
                    /** @description What follows from the signature, in hex. */
                    readonly randomness: string;
                    /** @description Of a chained scheme, what is signed too, in hex. */
                    readonly previous_signature?: string;
                } | null;
                /**
                 * @description The winners or values. Of a cancelled draw what they would have been; null where
                 * something that they need is missing.
                 */
                readonly values: readonly unknown[] | null;
                /**
                 * Format: date-time
                 * @description When it ended.
                 */
                readonly ended_at: string;
            } | null;
            /** @description The leaf of the log that ends the draw; null before the end. */
            readonly end: {
                /** @description The leaf, as canonical JSON. */
                readonly leaf: string;
                /** @description c2sp.org/tlog-proof; null until the leaf is logged. */
                readonly proof: string | null;
            } | null;
            /** @description Of a weighted pick the chance of each item, in percent of one pick. */
            readonly chances?: readonly {
                /** @description One of the items. */
                readonly item: string;
                /** @description The chance in one pick. */
                readonly percent: string;
            }[];
        };
        readonly IntegersAsked: {
            /**
             * Format: int64
             * @description How many integers.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64
             * @description Lower bound, inclusive.
             * @default 0
             */
            readonly min?: number;
            /**
             * Format: int64
             * @description Upper bound, inclusive; more than min, and at most 2^53 - 1 above it.
             * @default 100
             */
            readonly max?: number;
            /**
             * @description No value twice; the range must hold at least count values.
             * @default false
             */
            readonly unique?: boolean;
            /**
             * @description Order of the values.
             * @default none
             * @enum {string}
             */
            readonly sort?: "none" | "ascending" | "descending";
        };
        readonly BytesAsked: {
            /**
             * Format: int64
             * @description How many bytes.
             * @default 16
             */
            readonly count?: number;
            /**
             * @description hex in lower case, or base64 with padding (RFC 4648 §4).
             * @default hex
             * @enum {string}
             */
            readonly encoding?: "hex" | "base64";
        };
        readonly FloatsAsked: {
            /**
             * Format: int64
             * @description How many floats.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64 @description Decimal places p: values are uniform on k / 10^p, 0 <= k < 10^p. Left out:
             * uniform multiples of 2^-53.
             */
            readonly precision?: number;
        };
        readonly UuidAsked: {
            /**
             * Format: int64
             * @description How many UUIDs.
             * @default 1
             */
            readonly count?: number;
        };
        readonly BitstringAsked: {
            /**
             * Format: int64
             * @description How many bits.
             * @default 128
             */
            readonly length?: number;
        };
        readonly ShuffleAsked: {
            /**
             * @description The items; one may be empty. Separated by commas, each percent-encoded UTF-8. %2C is a comma
             * in an item, unless the value has no literal comma: then it separates items, as form encoders write it. +
             * is a blank.
             */
            readonly items: readonly string[];
        };
        readonly SampleAsked: {
            /**
             * Format: int64
             * @description How many of the items; at most all of them.
             * @default 1
             */
            readonly count?: number;
            /**
             * @description The items; one may be empty. Separated by commas, each percent-encoded UTF-8. %2C is a comma
             * in an item, unless the value has no literal comma: then it separates items, as form encoders write it. +
             * is a blank.
             */
            readonly items: readonly string[];
        };
        readonly WeightedAsked: {
            /**
             * Format: int64
             * @description How many picks.
             * @default 1
             */
            readonly count?: number;
            /**
             * @description The items; one may be empty. Separated by commas, each percent-encoded UTF-8. %2C is a comma
             * in an item, unless the value has no literal comma: then it separates items, as form encoders write it. +
             * is a blank.
             */
            readonly items: readonly string[];
            /**
             * @description A whole number from 1 on for each item, in their order. Item i is drawn with probability
             * weights[i] / sum, exactly; the sum is at most 2^53.
             */
            readonly weights: readonly number[];
        };
        readonly StringsAsked: {
            /**
             * Format: int64
             * @description How many strings.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64
             * @description Characters of each string.
             * @default 16
             */
            readonly length?: number;
            /**
             * @description The characters to choose from: 2 to 1,000 Unicode code points, none twice.
             * @default ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789
             */
            readonly alphabet?: string;
        };
        readonly SequencesAsked: {
            /**
             * Format: int64
             * @description How often all sequences are drawn.
             * @default 1
             */
            readonly count?: number;
            /** @description How many numbers each sequence has. */
            readonly length: readonly number[];
            /** @description Lower bound of each sequence, inclusive. */
            readonly min: readonly number[];
            /**
             * @description Upper bound of each sequence, inclusive; more than its min, and at most 2^53 - 1 above it.
             */
            readonly max: readonly number[];
            /**
             * @description No number twice in a sequence; each range must hold its length of values.
             * @default false
             */
            readonly unique?: boolean;
            /**
             * @description Order of the numbers in each sequence.
             * @default none
             * @enum {string}
             */
            readonly sort?: "none" | "ascending" | "descending";
        };
        readonly PermutationsAsked: {
            /**
             * Format: int64
             * @description How many permutations.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64
             * @description Each permutation is of the numbers from 0 to length - 1.
             */
            readonly length: number;
        };
        readonly GaussiansAsked: {
            /**
             * Format: int64
             * @description How many numbers.
             * @default 1
             */
            readonly count?: number;
            /**
             * @description Mean of the normal distribution: exactly the decimal that the answer echoes.
             * @default 0
             */
            readonly mean?: number;
            /**
             * @description Standard deviation, likewise.
             * @default 1
             */
            readonly stddev?: number;
            /**
             * Format: int64
             * @description Significant decimal digits that each value is rounded to, exactly.
             * @default 14
             */
            readonly digits?: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
};
export type IntegersData = components['schemas']['IntegersData'];
export type BytesData = components['schemas']['BytesData'];
export type FloatsData = components['schemas']['FloatsData'];
export type UuidData = components['schemas']['UuidData'];
export type BitstringData = components['schemas']['BitstringData'];
export type ShuffleData = components['schemas']['ShuffleData'];
export type BatchData = components['schemas']['BatchData'];
export type SampleData = components['schemas']['SampleData'];
export type WeightedData = components['schemas']['WeightedData'];
export type StringsData = components['schemas']['StringsData'];
export type SequencesData = components['schemas']['SequencesData'];
export type PermutationsData = components['schemas']['PermutationsData'];
export type GaussiansData = components['schemas']['GaussiansData'];
export type IntegersAnswer = components['schemas']['IntegersAnswer'];
export type DrawAnswer = components['schemas']['DrawAnswer'];
export type Quote = components['schemas']['Quote'];
export type Metadata = components['schemas']['Metadata'];
export type Meta = components['schemas']['Meta'];
export type Credits = components['schemas']['Credits'];
export type CertificateDocument = components['schemas']['CertificateDocument'];
export type Usage = components['schemas']['Usage'];
export type Tiers = components['schemas']['Tiers'];
export type Health = components['schemas']['Health'];
export type HealthReport = components['schemas']['HealthReport'];
export type Error = components['schemas']['Error'];
export type Draw = components['schemas']['Draw'];
export type IntegersAsked = components['schemas']['IntegersAsked'];
export type BytesAsked = components['schemas']['BytesAsked'];
export type FloatsAsked = components['schemas']['FloatsAsked'];
export type UuidAsked = components['schemas']['UuidAsked'];
export type BitstringAsked = components['schemas']['BitstringAsked'];
export type ShuffleAsked = components['schemas']['ShuffleAsked'];
export type SampleAsked = components['schemas']['SampleAsked'];
export type WeightedAsked = components['schemas']['WeightedAsked'];
export type StringsAsked = components['schemas']['StringsAsked'];
export type SequencesAsked = components['schemas']['SequencesAsked'];
export type PermutationsAsked = components['schemas']['PermutationsAsked'];
export type GaussiansAsked = components['schemas']['GaussiansAsked'];
