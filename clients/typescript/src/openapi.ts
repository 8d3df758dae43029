// Made of the OpenAPI document by test/generated-client/client-types.ts.
export type components = {
    schemas: {
        readonly IntegersData: {
            /** @description The number of values. */
            readonly count: number;
            /**
             * Format: int64
             * @description The lower bound, inclusive.
             */
            readonly min: number;
            /**
             * Format: int64
             * @description The upper bound, inclusive. It must be greater than `min`, by at most 2^53 - 1.
             */
            readonly max: number;
            /** @description If true, no value occurs twice. The range must then contain at least `count` values. */
            readonly unique: boolean;
            /**
             * @description The order of the values. `none` keeps the order in which they were drawn.
             * @enum {string}
             */
            readonly sort: "none" | "ascending" | "descending";
            /** @description The values. */
            readonly values: readonly number[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly BytesData: {
            /** @description The number of values. */
            readonly count: number;
            /**
             * @description The encoding of the bytes: lower-case hex, or base64 with padding (RFC 4648 §4).
             * @enum {string}
             */
            readonly encoding: "hex" | "base64";
            /** @description The number of bits: eight times `count`. */
            readonly bits: number;
            /** @description The bytes in the requested encoding. */
            readonly bytes: string;
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly FloatsData: {
            /** @description The number of values. */
            readonly count: number;
            /**
             * Format: int64
             * @description The number of decimal places p. The values are then uniformly distributed over k / 10^p, where 0 <= k < 10^p. Without `precision` they are uniformly distributed multiples of 2^-53.
             */
            readonly precision: number | null;
            /** @description The values. */
            readonly values: readonly number[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly UuidData: {
            /** @description The number of values. */
            readonly count: number;
            /**
             * @description The version of the UUIDs.
             * @constant
             */
            readonly version: 4;
            /** @description The UUIDs. */
            readonly uuids: readonly string[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly BitstringData: {
            /**
             * Format: int64
             * @description The number of bits.
             */
            readonly length: number;
            /** @description The bits, as a string of the digits 0 and 1. */
            readonly bitstring: string;
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly ShuffleData: {
            /** @description The number of items. */
            readonly count: number;
            /** @description The items that were drawn, in order. */
            readonly items: readonly string[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly BatchData: {
            /** @description The values. Each value is a list of numbers for permutations, and a list of such lists for sequences. */
            readonly values: readonly (number | string | readonly unknown[])[];
            /** @description The number of values. */
            readonly count: number;
            /**
             * @description The kind of values.
             * @enum {string}
             */
            readonly type: "integers" | "floats" | "bytes" | "uuid" | "sample" | "weighted" | "strings" | "sequences" | "permutations" | "gaussians";
            /** @description The parameters that were used, including defaults. */
            readonly params: {
                /**
                 * Format: int64
                 * @description The lower bound, inclusive.
                 */
                readonly min: number;
                /**
                 * Format: int64
                 * @description The upper bound, inclusive. It must be greater than `min`, by at most 2^53 - 1.
                 */
                readonly max: number;
                /** @description If true, no value occurs twice. The range must then contain at least `count` values. */
                readonly unique: boolean;
                /**
                 * @description The order of the values. `none` keeps the order in which they were drawn.
                 * @enum {string}
                 */
                readonly sort: "none" | "ascending" | "descending";
            } | {
                /**
                 * Format: int64
                 * @description The number of decimal places p. The values are then uniformly distributed over k / 10^p, where 0 <= k < 10^p. Without `precision` they are uniformly distributed multiples of 2^-53.
                 */
                readonly precision: number | null;
            } | {
                /**
                 * @description The encoding of the bytes: lower-case hex, or base64 with padding (RFC 4648 §4).
                 * @enum {string}
                 */
                readonly encoding: "hex" | "base64";
                /**
                 * Format: int64
                 * @description The number of bytes in each value.
                 */
                readonly length: number;
            } | Record<string, unknown> | {
                /** @description The SHA-256 hash of the list of items as JSON without spaces. */
                readonly list_sha256: string;
                /** @description The number of given items. */
                readonly of: number;
            } | {
                /** @description The SHA-256 hash of the list of items as JSON without spaces. */
                readonly list_sha256: string;
                /** @description The weights of the items, in the same order: one integer of at least 1 per item. The probability of item i is exactly weights[i] / sum of the weights. The sum must be at most 2^53. */
                readonly weights: readonly number[];
            } | {
                /**
                 * Format: int64
                 * @description The number of characters in each string.
                 */
                readonly length: number;
                /** @description The characters to choose from: 2 to 1,000 different Unicode characters. */
                readonly alphabet: string;
            } | {
                /** @description The length of each sequence. */
                readonly length: readonly number[];
                /** @description The lower bound of each sequence, inclusive. */
                readonly min: readonly number[];
                /** @description The upper bound of each sequence, inclusive. It must be greater than the lower bound of the same sequence, by at most 2^53 - 1. */
                readonly max: readonly number[];
                /** @description If true, no number occurs twice in a sequence. Each range must then contain at least as many values as the sequence is long. */
                readonly unique: boolean;
                /**
                 * @description The order of the numbers in each sequence. `none` keeps the order in which they were drawn.
                 * @enum {string}
                 */
                readonly sort: "none" | "ascending" | "descending";
            } | {
                /**
                 * Format: int64
                 * @description The length of each permutation, which contains the numbers from 0 to length - 1.
                 */
                readonly length: number;
            } | {
                /** @description The mean of the normal distribution. The service uses exactly the decimal number that the answer repeats. */
                readonly mean: number;
                /** @description The standard deviation of the normal distribution. The service uses exactly the decimal number that the answer repeats. */
                readonly stddev: number;
                /**
                 * Format: int64
                 * @description The number of significant decimal digits to which each value is rounded.
                 */
                readonly digits: number;
            };
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly SampleData: {
            /** @description The number of values. */
            readonly count: number;
            /** @description The SHA-256 hash of the list of items as JSON without spaces. */
            readonly list_sha256: string;
            /** @description The number of given items. */
            readonly of: number;
            /** @description The items that were drawn, in order. */
            readonly items: readonly string[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly WeightedData: {
            /** @description The number of values. */
            readonly count: number;
            /** @description The SHA-256 hash of the list of items as JSON without spaces. */
            readonly list_sha256: string;
            /** @description The weights of the items, in the same order: one integer of at least 1 per item. The probability of item i is exactly weights[i] / sum of the weights. The sum must be at most 2^53. */
            readonly weights: readonly number[];
            /** @description The items that were drawn, in order. */
            readonly items: readonly string[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly StringsData: {
            /** @description The number of values. */
            readonly count: number;
            /**
             * Format: int64
             * @description The number of characters in each string.
             */
            readonly length: number;
            /** @description The characters to choose from: 2 to 1,000 different Unicode characters. */
            readonly alphabet: string;
            /** @description The values. */
            readonly values: readonly string[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly SequencesData: {
            /** @description The number of values. */
            readonly count: number;
            /** @description The length of each sequence. */
            readonly length: readonly number[];
            /** @description The lower bound of each sequence, inclusive. */
            readonly min: readonly number[];
            /** @description The upper bound of each sequence, inclusive. It must be greater than the lower bound of the same sequence, by at most 2^53 - 1. */
            readonly max: readonly number[];
            /** @description If true, no number occurs twice in a sequence. Each range must then contain at least as many values as the sequence is long. */
            readonly unique: boolean;
            /**
             * @description The order of the numbers in each sequence. `none` keeps the order in which they were drawn.
             * @enum {string}
             */
            readonly sort: "none" | "ascending" | "descending";
            /** @description One entry per draw. Each entry contains one list of integers per sequence. */
            readonly values: readonly (readonly (readonly number[])[])[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly PermutationsData: {
            /** @description The number of values. */
            readonly count: number;
            /**
             * Format: int64
             * @description The length of each permutation, which contains the numbers from 0 to length - 1.
             */
            readonly length: number;
            /** @description The values. */
            readonly values: readonly (readonly number[])[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly GaussiansData: {
            /** @description The number of values. */
            readonly count: number;
            /** @description The mean of the normal distribution. The service uses exactly the decimal number that the answer repeats. */
            readonly mean: number;
            /** @description The standard deviation of the normal distribution. The service uses exactly the decimal number that the answer repeats. */
            readonly stddev: number;
            /**
             * Format: int64
             * @description The number of significant decimal digits to which each value is rounded.
             */
            readonly digits: number;
            /** @description The values. */
            readonly values: readonly number[];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`. */
                readonly quantum_source: string;
            };
        };
        readonly IntegersAnswer: {
            /** @description The requested values and the parameters that were used. */
            readonly data: components["schemas"]["IntegersData"];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: components["schemas"]["Metadata"];
            /** @description Further facts about the request. */
            readonly meta: components["schemas"]["Meta"];
            /** @description The credits of the account for pure mode. */
            readonly quantum_credits: components["schemas"]["Credits"];
            /** @description The label that the request gave the answer. Absent if it gave none. */
            readonly label?: {
                /** @description Whether the certificate shows `purpose` and `user_data` to everyone. */
                readonly public: boolean;
                /** @description The purpose of the values. */
                readonly purpose?: string;
                /** @description The identifier of the series: all answers of one account under one purpose. */
                readonly series?: string;
                /** @description The user data that the answer is bound to. */
                readonly user_data?: string;
                /** @description The SHA-256 hash of the user data that the answer is bound to. */
                readonly user_data_sha256?: string;
            };
            /** @description The proof that the values were made from the drawn pieces of the lots. Only answers in pure mode have it, and long answers do not. */
            readonly opening?: {
                /** @description The drawn pieces, in base64. */
                readonly bytes: string;
                /** @description The hashes that lead from the pieces to the roots of their blocks, in base64. */
                readonly path: string;
                /** @description The salts of the pieces, in base64. */
                readonly salts: string;
            };
        };
        readonly DrawAnswer: {
            /** @description The requested values and the parameters that were used. */
            readonly data: components["schemas"]["BytesData"];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: components["schemas"]["Metadata"];
            /** @description Further facts about the request. */
            readonly meta: components["schemas"]["Meta"];
            /** @description The label that the request gave the answer. Absent if it gave none. */
            readonly label?: {
                /** @description Whether the certificate shows `purpose` and `user_data` to everyone. */
                readonly public: boolean;
                /** @description The purpose of the values. */
                readonly purpose?: string;
                /** @description The identifier of the series: all answers of one account under one purpose. */
                readonly series?: string;
                /** @description The user data that the answer is bound to. */
                readonly user_data?: string;
                /** @description The SHA-256 hash of the user data that the answer is bound to. */
                readonly user_data_sha256?: string;
            };
            /** @description The proof that the values were made from the drawn pieces of the lots. Only answers in pure mode have it, and long answers do not. */
            readonly opening?: {
                /** @description The drawn pieces, in base64. */
                readonly bytes: string;
                /** @description The hashes that lead from the pieces to the roots of their blocks, in base64. */
                readonly path: string;
                /** @description The salts of the pieces, in base64. */
                readonly salts: string;
            };
        };
        /** @description The answer to a request with `dry_run=true`. The service has drawn no entropy. */
        readonly Quote: {
            /** @description The price of the request. */
            readonly data: {
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly mode: "quantum-seeded" | "pure" | "csprng";
                /** @description The price of the request in pure mode, in bytes. One credit pays for one byte. */
                readonly required_bytes: number;
            };
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description The time at which the service received the request.
                 */
                readonly timestamp: string;
            };
            /** @description Further facts about the request. */
            readonly meta: components["schemas"]["Meta"];
            /** @description The credits of the account for pure mode. */
            readonly quantum_credits: components["schemas"]["Credits"];
        };
        readonly Metadata: {
            /** @description The identifier of the certificate of this answer. `GET /v1/certificate` returns the certificate. */
            readonly certificate_id: string;
            /** @description The salt of the hash `hashes.delivered` in the certificate, 64 hex digits. Only the caller receives the salt; the ledger does not store it. */
            readonly certificate_salt: string;
            /** @description The entropy that the service drew for the answer, in bytes. It includes draws that rejection sampling discarded. */
            readonly entropy_consumed_bytes: number;
            /**
             * @description The kind of source that produced the raw bits. The service never reports a better origin than the true one.
             * @enum {string}
             */
            readonly entropy_origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
            /** @description The name of the quantum circuit, or `none` in csprng mode. */
            readonly lang_circuit: string;
            /** @description The version of the circuit compiler, or `none` in csprng mode. */
            readonly lang_version: string;
            /** @description Whether the bits that the answer was drawn from passed the statistical tests of NIST SP 800-22. */
            readonly nist_verified: boolean;
            /** @description The name of the technology that the service uses. It is the same in every answer. */
            readonly powered_by: string;
            /** @description The time from receiving the request to making the answer, in milliseconds. */
            readonly processing_time_ms: number;
            /** @description The quantum processor or device, or `none` in csprng mode. */
            readonly quantum_backend: string;
            /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
            readonly request_id: string;
            /**
             * Format: date-time
             * @description The time at which the service received the request, in ISO 8601 and UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uri
             * @description The URL of the public page of the certificate, where anyone can read and verify it.
             */
            readonly verify_url: string;
        };
        readonly Meta: {
            /** @description The same value as `metadata.processing_time_ms`. */
            readonly duration_ms: number;
            /**
             * Format: uuid
             * @description The identifier of the request, as a UUID.
             */
            readonly request_id: string;
        };
        /** @description The credits of the account for pure mode. One credit pays for one byte. */
        readonly Credits: {
            /** @description The credits that the account has left this month. 2^53 - 1 means unlimited. */
            readonly remaining: number;
            /** @description The credits that the account has each month. 2^53 - 1 means unlimited. */
            readonly total: number;
            /** @description The credits that this request spent. */
            readonly used: number;
        };
        readonly CertificateDocument: {
            /** @description The certificate. It states where the entropy came from, how it was tested, and which values were delivered. */
            readonly certificate: {
                /**
                 * @description The version of the certificate format.
                 * @constant
                 */
                readonly version: 1;
                /** @description The identifier of the certificate. */
                readonly id: string;
                /**
                 * Format: date-time
                 * @description The time at which the answer was made.
                 */
                readonly issued_at: string;
                /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
                readonly request_id: string;
                /**
                 * @description The endpoint that the values were requested from.
                 * @enum {string}
                 */
                readonly endpoint: "integers" | "bytes" | "floats" | "uuid" | "bitstring" | "shuffle" | "batch" | "sample" | "weighted" | "strings" | "sequences" | "permutations" | "gaussians";
                /**
                 * @description The entropy mode of the answer.
                 * @enum {string}
                 */
                readonly entropy_mode: "quantum-seeded" | "pure" | "csprng";
                /** @description Where the entropy of the answer came from. */
                readonly provenance: {
                    /** @description The name of the quantum circuit of the first lot. */
                    readonly lang_circuit: string;
                    /** @description The version of the circuit compiler of the first lot. */
                    readonly lang_version: string;
                    /** @description The quantum processor or device of the first lot. */
                    readonly quantum_backend: string;
                    /** @description The number of qubits that the circuit of the first lot used. */
                    readonly qubits_used: number;
                    /** @description The depth of the circuit of the first lot. */
                    readonly circuit_depth: number;
                    /**
                     * @description The kind of source that produced the raw bits. If the origins of the lots differ, this is the weakest of them.
                     * @enum {string}
                     */
                    readonly origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
                    /** @description The lots that the answer was drawn from, in the order of drawing. */
                    readonly lots: readonly {
                        /** @description The identifier of the lot. */
                        readonly id: string;
                        /** @description The leaf hash of the lot in the log, in base64. */
                        readonly leaf: string;
                    }[];
                    /**
                     * @description How well the quantum origin of the raw bits is supported. If the claims of the lots differ, this is the weakest of them.
                     * @enum {string}
                     */
                    readonly evidence?: "simulated" | "statistical" | "calibrated";
                    /**
                     * @description The generator of the operating system. In quantum-seeded mode its output is mixed into the seed; in csprng mode it produced the values.
                     * @enum {string}
                     */
                    readonly system_entropy?: "kernel" | "openssl";
                    /** @description The seed of the lot that the values were derived from. */
                    readonly seed?: {
                        /** @description The index of the seed within the lot, from 0. */
                        readonly index: number;
                    };
                    /** @description The pieces of pure bytes that the answer was drawn from, in the order in which they were drawn. */
                    readonly drawn?: readonly {
                        /** @description The index of the lot in `lots`, from 0. */
                        readonly lot: number;
                        /** @description The offset of the first byte within the lot, from 0. */
                        readonly offset: number;
                        /** @description The number of bytes. */
                        readonly bytes: number;
                    }[];
                    /**
                     * @description Always `true` in csprng mode: the lot is a tested sample of the generator that produced the values. The values themselves do not come from the lot.
                     * @constant
                     */
                    readonly sample?: true;
                };
                /** @description The results of the tests of the bits that the answer was drawn from. */
                readonly verification: {
                    /** @description How many tests of NIST SP 800-22 the tested windows that the answer was drawn from passed: `<passed>/<total> passed`, or `not tested`. */
                    readonly nist_sp800_22: string;
                    /** @description Whether every bit that the answer was drawn from lies in a tested window that passed. */
                    readonly nist_verified: boolean;
                    /**
                     * @description Always `not implemented`: the service does not run the Dieharder tests.
                     * @constant
                     */
                    readonly dieharder: "not implemented";
                    /** @description The estimated min-entropy per raw bit. If the estimates of the lots differ, this is the lowest of them. */
                    readonly min_entropy_per_bit: number | null;
                };
                /** @description SHA-256 hashes of the raw bits, of the conditioned bytes and of the delivered values. */
                readonly hashes: {
                    /** @description The SHA-256 hash of the raw bits of the lot. For several lots, the hash of the concatenated hashes of the lots. */
                    readonly raw_output: string;
                    /** @description The SHA-256 hash of the conditioned bytes of the lot. For several lots, the hash of the concatenated hashes of the lots. */
                    readonly processed: string;
                    /** @description The SHA-256 hash of the salt followed by the delivered values. */
                    readonly delivered: string;
                };
                /**
                 * @description The present status of the certificate: `revoked` if a lot was withdrawn, `test` if a lot came from a deterministic test source, otherwise `valid`. The signature does not cover it.
                 * @enum {string}
                 */
                readonly status: "valid" | "revoked" | "test";
                /**
                 * Format: uri
                 * @description The URL of the public page of the certificate. The signature does not cover it.
                 */
                readonly verify_url: string;
                /** @description The proof that the certificate is in the log (c2sp.org/tlog-proof). It is null for a short time after the answer, until the certificate is logged. */
                readonly proof: string | null;
                /** @description The media type of the body that `hashes.delivered` covers. Absent if the hash covers the JSON member `data`. */
                readonly media_type?: string;
                /** @description The label that the caller gave the answer. Absent if the caller gave none. */
                readonly label?: {
                    /** @description Whether the certificate shows `purpose` and `user_data` to everyone. */
                    readonly public: boolean;
                    /** @description The purpose of the answer. Only a public label contains it. */
                    readonly purpose?: string;
                    /** @description The SHA-256 hash of the byte 04, the salt and the purpose. Only a private label contains it. */
                    readonly purpose_commitment?: string;
                    /** @description The identifier of the series: all answers of one account under one purpose. */
                    readonly series?: string;
                    /** @description The serial number of the answer in its series. Numbers start at 1 and have no gaps. */
                    readonly serial?: number;
                    /** @description The user data that the answer is bound to. Only a public label contains it. */
                    readonly user_data?: string;
                    /** @description The SHA-256 hash of the user data that the answer is bound to. */
                    readonly user_data_sha256?: string;
                    /** @description The SHA-256 hash of the byte 05, the salt and the user data. Only a private label contains it. */
                    readonly user_data_commitment?: string;
                };
            };
            /** @description The lots of `provenance.lots`, in the same order. */
            readonly lots: readonly {
                /** @description The complete record of the lot in the log. `provenance.lots` contains the leaf hash of its canonical JSON. */
                readonly leaf: {
                    /**
                     * @description The type of the leaf.
                     * @constant
                     */
                    readonly type: "lot";
                    /**
                     * @description The version of the leaf format.
                     * @constant
                     */
                    readonly version: 1;
                    /** @description The identifier of the lot. */
                    readonly lot_id: string;
                    /** @description The name that the operator gave the source. */
                    readonly source: string;
                    /** @description The provider that runs the device. */
                    readonly provider: string;
                    /** @description The name of the device at its provider. */
                    readonly device: string;
                    /** @description The identifier of the quantum processor or device. */
                    readonly quantum_backend: string;
                    /** @description The identifier of the job at the provider. */
                    readonly job_id: string | null;
                    /**
                     * @description The kind of source that produced the raw bits.
                     * @enum {string}
                     */
                    readonly origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
                    /** @description Whether the quantum origin rests only on the declaration of the operator. */
                    readonly declared: boolean;
                    /** @description Whether a deterministic test source produced the lot. */
                    readonly deterministic: boolean;
                    /** @description The name of the quantum circuit. */
                    readonly lang_circuit: string;
                    /** @description The version of the circuit compiler. */
                    readonly lang_version: string;
                    /** @description The SHA-256 hash of the circuit as it was submitted. */
                    readonly circuit_sha256: string | null;
                    /** @description The number of qubits that the circuit used. */
                    readonly qubits_used: number;
                    /** @description The depth of the circuit. */
                    readonly circuit_depth: number;
                    /** @description The number of times that the circuit was run. */
                    readonly shots: number;
                    /** @description The calibration of the device at the time of the job. */
                    readonly calibration: {
                        /** @description The identifier of the calibration at the provider. */
                        readonly id: string | null;
                        /** @description The date of the calibration, as the provider states it. */
                        readonly date: string | null;
                        /** @description The SHA-256 hash of the complete calibration data as canonical JSON (RFC 8785). */
                        readonly digest: string;
                    } | null;
                    /** @description The certificates under which another service delivered the raw bits. It is null if the raw bits came directly from a source. */
                    readonly upstream: {
                        /** @description The name of the log that contains the certificates. */
                        readonly log: string;
                        /**
                         * @description The weakest origin that the certificates state.
                         * @enum {string}
                         */
                        readonly origin: "quantum-processor" | "qrng-device" | "simulated" | "replay" | "system";
                        /** @description The certificates of the other service that cover the raw bits. */
                        readonly certificates: readonly {
                            /** @description The identifier of the certificate. */
                            readonly id: string;
                            /** @description The leaf hash of the certificate in that log, in base64. */
                            readonly leaf: string;
                        }[];
                    } | null;
                    /**
                     * Format: date-time
                     * @description The time at which reading the raw bits ended.
                     */
                    readonly finished_at: string;
                    /** @description The number of raw bits that were read. */
                    readonly raw_bits: number;
                    /** @description The SHA-256 hash of the raw bits as the source delivered them. */
                    readonly raw_output: string;
                    /** @description The SHA-256 hash of the conditioned bytes. */
                    readonly processed: string;
                    /** @description The results of the continuous health tests (SP 800-90B §4.4). */
                    readonly health: {
                        /** @description The number of raw bits that were tested. */
                        readonly samples: number;
                        /** @description The number of alarms of the repetition count test. */
                        readonly rct_failures: number;
                        /** @description The number of alarms of the adaptive proportion test. */
                        readonly apt_failures: number;
                    };
                    /** @description The estimated min-entropy per raw bit (SP 800-90B §6.3). It is null if too few bits were read. */
                    readonly min_entropy_per_bit: number | null;
                    /** @description The number of windows of raw bits that were assessed. Together the windows cover every bit in both orders. */
                    readonly raw_windows: number;
                    /** @description The runs of the SP 800-22 tests. The service erased the conditioned bits of every window that failed. */
                    readonly tested: readonly {
                        /**
                         * @description Which bits were tested: raw bits of the source, conditioned bits, or the csprng stream (`system`).
                         * @enum {string}
                         */
                        readonly of: "raw" | "conditioned" | "system";
                        /** @description The number of tested bits. */
                        readonly bits: number;
                        /** @description The offset of the first tested bit, from 0. */
                        readonly first_bit: number;
                        /** @description The SHA-256 hash of the tested bits, packed into bytes. */
                        readonly sha256: string;
                        /** @description The number of p-values that passed. */
                        readonly passed: number;
                        /** @description The number of all p-values. */
                        readonly total: number;
                        /** @description The smallest p-value. */
                        readonly smallest_p: number;
                        /** @description Whether the tested bits passed SP 800-22 as a whole. */
                        readonly verified: boolean;
                        /**
                         * @description The order of the tested raw bits: shot by shot, or channel by channel.
                         * @enum {string}
                         */
                        readonly order?: "shots" | "channels";
                        /** @description The reason why `verified` is false. */
                        readonly reason?: string;
                    }[];
                    /** @description How well the quantum origin of the lot is supported. It is null for a sample of the csprng stream. */
                    readonly evidence: {
                        /**
                         * @description How well the quantum origin of the raw bits is supported. The values are listed from the weakest to the strongest claim.
                         * @enum {string}
                         */
                        readonly claim: "simulated" | "statistical" | "calibrated";
                        /** @description The min-entropy per raw bit that follows from the method and the assumptions. */
                        readonly min_entropy_per_bit: number | null;
                        /** @description The measured figures that the claim is computed from, by name. */
                        readonly figures: {
                            readonly [key: string]: number;
                        };
                        /** @description The formula and the publication that it comes from. */
                        readonly method: string;
                        /** @description The assumptions under which the claim holds. */
                        readonly assumptions: string;
                        /** @description The stronger claims that are not made, with the reasons. */
                        readonly not_reached: readonly {
                            /**
                             * @description How well the quantum origin of the raw bits is supported. The values are listed from the weakest to the strongest claim.
                             * @enum {string}
                             */
                            readonly claim: "simulated" | "statistical" | "calibrated";
                            /** @description The reason why this claim is not made. */
                            readonly why: string;
                        }[];
                    } | null;
                    /** @description The bytes for pure mode, divided into blocks, and the hash that commits to them. */
                    readonly pure: {
                        /** @description The number of bytes for pure mode. */
                        readonly bytes: number;
                        /** @description The number of bytes in a block. */
                        readonly block_bytes: number;
                        /** @description The number of bytes in a piece. */
                        readonly piece_bytes: number;
                        /** @description The root hash of the Merkle tree over these blocks or seeds, in base64. */
                        readonly root: string;
                    };
                    /** @description The seeds for quantum-seeded mode, and the hash that commits to them. */
                    readonly seeds: {
                        /** @description The number of seeds. */
                        readonly count: number;
                        /** @description The root hash of the Merkle tree over these blocks or seeds, in base64. */
                        readonly root: string;
                    };
                } & {
                    readonly [key: string]: unknown;
                };
                /** @description The proof that the lot is in the log (c2sp.org/tlog-proof). It is null for a sample of the csprng stream that is not logged yet. */
                readonly proof: string | null;
                /** @description The proofs that the pieces or the seed that the answer used belong to the lot. */
                readonly runs: readonly {
                    /** @description The index of the first leaf. */
                    readonly first: number;
                    /** @description The SHA-256 hashes of the leaves. */
                    readonly hashes: readonly string[];
                    /** @description The hashes that lead from the leaves to the root. */
                    readonly path: readonly string[];
                }[];
            }[];
            /** @description The withdrawal of a lot that the answer was drawn from. Absent if no lot was withdrawn. */
            readonly revocation?: {
                /** @description The identifier of the lot. */
                readonly lot_id: string;
                /** @description The reason why the lot was withdrawn. */
                readonly reason: string;
                /**
                 * Format: date-time
                 * @description The time at which the lot was withdrawn.
                 */
                readonly revoked_at: string;
            };
            /** @description Facts about the entropy and about the request. */
            readonly metadata?: {
                /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description The time at which the service received the request.
                 */
                readonly timestamp: string;
                /** @description The name of the quantum circuit, or `none` if no entropy was drawn. */
                readonly lang_circuit: string;
                /** @description The version of the circuit compiler, or `none` if no entropy was drawn. */
                readonly lang_version: string;
                /** @description The quantum processor or device, or `none` if no entropy was drawn. */
                readonly quantum_backend: string;
                /** @description Whether the bits that were drawn passed the statistical tests of NIST SP 800-22. It is `false` if no entropy was drawn. */
                readonly nist_verified: boolean;
                /** @description The name of the technology that the service uses. It is the same in every answer. */
                readonly powered_by: string;
            };
        };
        /** @description The usage of the account. 2^53 - 1 means unlimited. */
        readonly Usage: {
            /** @description The requested data. */
            readonly data: {
                /** @description The calendar month in UTC, in the form YYYY-MM. */
                readonly period: string;
                /**
                 * Format: date-time
                 * @description The start of the month.
                 */
                readonly starts_at: string;
                /**
                 * Format: date-time
                 * @description The end of the month. All monthly amounts are then available again.
                 */
                readonly ends_at: string;
                /**
                 * @description The tier of the account.
                 * @enum {string}
                 */
                readonly tier: "free" | "developer" | "pro" | "business" | "enterprise";
                /** @description The monthly quota of requests. Only answered requests for values count. */
                readonly requests: {
                    /** @description The amount used in this month. */
                    readonly used: number;
                    /** @description The monthly quota of requests. */
                    readonly limit: number;
                    /** @description The amount that is still available. */
                    readonly remaining: number;
                };
                /** @description The rate limit of the account and its present state. */
                readonly rate: {
                    /** @description The number of requests per minute that the account may send continuously. */
                    readonly limit_per_minute: number;
                    /** @description The number of requests that the account may send at once. */
                    readonly burst: number;
                    /** @description The amount that is still available. */
                    readonly remaining: number;
                    /**
                     * Format: date-time
                     * @description The time at which the full burst is available again.
                     */
                    readonly reset_at: string;
                };
                /** @description The credits of pure mode. One credit pays for one byte. */
                readonly credits: {
                    /** @description The credits that the account has each month. */
                    readonly total: number;
                    /** @description The amount used in this month. */
                    readonly used: number;
                    /** @description The amount that is still available. */
                    readonly remaining: number;
                };
                /** @description The usage in this month, by endpoint. */
                readonly by_endpoint: {
                    /** @description The usage in this month. */
                    readonly integers: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly bytes: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly floats: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly uuid: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly bitstring: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly shuffle: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly batch: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly sample: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly weighted: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly strings: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly sequences: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly permutations: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly gaussians: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                };
                /** @description The usage in this month, by entropy mode. */
                readonly by_mode: {
                    /** @description The usage in this month. */
                    readonly "quantum-seeded": {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly pure: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                    /** @description The usage in this month. */
                    readonly csprng: {
                        /** @description The number of answered requests for values. */
                        readonly requests: number;
                        /** @description The number of values in the answers. */
                        readonly values: number;
                        /** @description The number of bytes that the certificates of the answers commit to. */
                        readonly bytes: number;
                    };
                };
                /** @description The usage on each of the last 31 days, including today. The oldest day comes first. */
                readonly days: readonly {
                    /**
                     * Format: date
                     * @description The day in UTC, in the form YYYY-MM-DD.
                     */
                    readonly date: string;
                    /** @description The number of answered requests for values. */
                    readonly requests: number;
                    /** @description The number of values in the answers. */
                    readonly values: number;
                    /** @description The number of bytes that the certificates of the answers commit to. */
                    readonly bytes: number;
                    /** @description The credits spent. One credit pays for one byte of pure mode. */
                    readonly credits: number;
                }[];
            };
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description The time at which the service received the request.
                 */
                readonly timestamp: string;
                /** @description The name of the quantum circuit, or `none` if no entropy was drawn. */
                readonly lang_circuit: string;
                /** @description The version of the circuit compiler, or `none` if no entropy was drawn. */
                readonly lang_version: string;
                /** @description The quantum processor or device, or `none` if no entropy was drawn. */
                readonly quantum_backend: string;
                /** @description Whether the bits that were drawn passed the statistical tests of NIST SP 800-22. It is `false` if no entropy was drawn. */
                readonly nist_verified: boolean;
                /** @description The name of the technology that the service uses. It is the same in every answer. */
                readonly powered_by: string;
            };
        };
        readonly Tiers: {
            /** @description The requested data. */
            readonly data: {
                /** @description The tiers, smallest first. */
                readonly tiers: readonly {
                    /**
                     * @description The name of the tier.
                     * @enum {string}
                     */
                    readonly tier: "free" | "developer" | "pro" | "business" | "enterprise";
                    /** @description The number of requests per minute that an account may send continuously. */
                    readonly requests_per_minute: number | null;
                    /** @description The number of requests that an account may send at once. It is also the maximum in any 60 seconds. */
                    readonly burst: number | null;
                    /** @description The number of answered requests for values per month. */
                    readonly requests_per_month: number | null;
                    /** @description The credits per month. One credit pays for one byte of pure mode. */
                    readonly credits_per_month: number | null;
                    /** @description The entropy modes of the tier. The first one is the default. */
                    readonly entropy_modes: readonly ("quantum-seeded" | "pure" | "csprng")[];
                    /**
                     * @description The entropy mode of a request without `entropy_mode`.
                     * @enum {string}
                     */
                    readonly default_entropy_mode: "quantum-seeded" | "pure" | "csprng";
                    /** @description The interval in seconds at which quantum-seeded mode takes a new seed. It is null for a tier without this mode. */
                    readonly seed_interval_s: number | null;
                    /** @description The scopes that API keys of the tier can have. */
                    readonly scopes: readonly ("entropy:read" | "entropy:batch" | "certificate:read" | "usage:read" | "health:read")[];
                    /** @description Whether the limits are agreed for each account individually. They are null here if so. */
                    readonly custom: boolean;
                }[];
                /** @description The prices of pure mode. */
                readonly prices: readonly {
                    /** @description The kind of values. */
                    readonly kind: string;
                    /** @description The formula for the entropy of the answer in bits. The price in credits is an eighth of it, rounded up. */
                    readonly bits: string;
                    /** @description An example request. */
                    readonly example: string;
                    /** @description The price of the example request in credits. */
                    readonly credits: number;
                }[];
                /** @description The limits of one request. */
                readonly limits: {
                    /** @description The maximum per request. */
                    readonly integers_count: number;
                    /** @description The maximum per request. */
                    readonly bytes_count: number;
                    /** @description The maximum per request. */
                    readonly floats_count: number;
                    /** @description The maximum per request. */
                    readonly uuid_count: number;
                    /** @description The maximum per request. */
                    readonly bitstring_length: number;
                    /** @description The maximum per request. */
                    readonly shuffle_items: number;
                    /** @description The maximum per request. */
                    readonly batch_count: number;
                };
            };
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description The time at which the service received the request.
                 */
                readonly timestamp: string;
                /** @description The name of the quantum circuit, or `none` if no entropy was drawn. */
                readonly lang_circuit: string;
                /** @description The version of the circuit compiler, or `none` if no entropy was drawn. */
                readonly lang_version: string;
                /** @description The quantum processor or device, or `none` if no entropy was drawn. */
                readonly quantum_backend: string;
                /** @description Whether the bits that were drawn passed the statistical tests of NIST SP 800-22. It is `false` if no entropy was drawn. */
                readonly nist_verified: boolean;
                /** @description The name of the technology that the service uses. It is the same in every answer. */
                readonly powered_by: string;
            };
        };
        readonly Health: {
            /** @description The requested data. */
            readonly data: components["schemas"]["HealthReport"];
            /** @description Facts about the entropy and about the request. */
            readonly metadata: {
                /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
                readonly request_id: string;
                /**
                 * Format: date-time
                 * @description The time at which the service received the request.
                 */
                readonly timestamp: string;
                /** @description The name of the quantum circuit, or `none` if no entropy was drawn. */
                readonly lang_circuit: string;
                /** @description The version of the circuit compiler, or `none` if no entropy was drawn. */
                readonly lang_version: string;
                /** @description The quantum processor or device, or `none` if no entropy was drawn. */
                readonly quantum_backend: string;
                /** @description Whether the bits that were drawn passed the statistical tests of NIST SP 800-22. It is `false` if no entropy was drawn. */
                readonly nist_verified: boolean;
                /** @description The name of the technology that the service uses. It is the same in every answer. */
                readonly powered_by: string;
            };
        };
        readonly HealthReport: {
            /**
             * @description The state of the service: `fail` if it cannot answer any request, `warn` if at least one check is not `pass`, otherwise `pass`.
             * @enum {string}
             */
            readonly status: "pass" | "warn" | "fail";
            /** @description The version of the API. */
            readonly version: string;
            /** @description The version of the software. */
            readonly releaseId: string;
            /**
             * Format: date-time
             * @description The time at which the state was observed.
             */
            readonly time: string;
            /** @description The checks. Each name consists of a component and the property that was measured (draft-inadarei-api-health-check-06 §4). */
            readonly checks: {
                readonly [key: string]: readonly {
                    /** @enum {string} */
                    readonly componentType: "datastore" | "component" | "system";
                    /**
                     * @description The result of the check.
                     * @enum {string}
                     */
                    readonly status: "pass" | "warn" | "fail";
                    readonly observedValue?: number | string | boolean | null;
                    readonly observedUnit?: string;
                    /** @description A description of the problem. */
                    readonly output?: string;
                    readonly details?: Record<string, unknown>;
                }[];
            };
        };
        readonly Error: {
            /** @description The error. */
            readonly error: {
                /**
                 * @description The error code. Programs should decide by this code and not by the message.
                 * @enum {string}
                 */
                readonly code: "bad_request" | "invalid_count" | "invalid_range" | "unique_impossible" | "invalid_boolean" | "invalid_sort" | "invalid_encoding" | "invalid_precision" | "invalid_length" | "invalid_items" | "invalid_weights" | "invalid_alphabet" | "invalid_mean" | "invalid_stddev" | "invalid_digits" | "invalid_sequences" | "invalid_type" | "invalid_params" | "invalid_json" | "invalid_id" | "invalid_format" | "invalid_entropy_mode" | "invalid_purpose" | "invalid_series" | "invalid_user_data" | "invalid_draw" | "invalid_draw_id" | "list_mismatch" | "invalid_nonce" | "invalid_beacon" | "beacon_round_past" | "invalid_reveal_at" | "invalid_idempotency_key" | "duplicate_parameter" | "unknown_parameter" | "pure_too_large" | "auth_missing" | "auth_invalid" | "credits_exhausted" | "auth_scope" | "mode_not_allowed" | "not_found" | "cert_not_found" | "draw_not_found" | "method_not_allowed" | "not_acceptable" | "idempotency_in_flight" | "draw_ended" | "draw_due" | "payload_too_large" | "unsupported_media_type" | "idempotency_mismatch" | "rate_limited" | "quota_exceeded" | "idempotency_full" | "draws_full" | "head_too_large" | "internal_error" | "entropy_unavailable" | "beacon_unavailable" | "overloaded" | "shutting_down" | "storage_unavailable";
                /** @description A message for developers that explains the error and how to correct the request. */
                readonly message: string;
                /** @description The HTTP status code. */
                readonly status: number;
                /** @description The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header. */
                readonly request_id: string;
                /** @description Details for programs. The members depend on the error code. */
                readonly details?: Record<string, unknown>;
            };
        };
        readonly Draw: {
            /**
             * @description The type of the document.
             * @constant
             */
            readonly type: "draw";
            /**
             * @description The version of the format.
             * @constant
             */
            readonly version: 1;
            /** @description The identifier of the draw. Anyone who knows it can read the draw. */
            readonly id: string;
            /**
             * @description The state of the draw.
             * @enum {string}
             */
            readonly state: "committed" | "revealed" | "cancelled" | "failed";
            /** @description The statement: everything that was fixed before anyone could know the outcome. */
            readonly statement: {
                /**
                 * @description The type of the object.
                 * @constant
                 */
                readonly type: "draw_statement";
                /**
                 * @description The version of the format.
                 * @constant
                 */
                readonly version: 1;
                /** @description The identifier of the draw. */
                readonly id: string;
                /** @description The request for the values, with all defaults written out. `kind` is the kind of values. */
                readonly request: Record<string, unknown>;
                /** @description The purpose of the draw. */
                readonly purpose: string;
                /** @description Whether the certificate shows `purpose` and `user_data` to everyone. */
                readonly public: boolean;
                /**
                 * Format: date-time
                 * @description The time at which the draw is due.
                 */
                readonly due_at: string;
                /** @description The list that winners are drawn from. */
                readonly list?: {
                    /** @description The SHA-256 hash of the items in UTF-8, each followed by a line feed. */
                    readonly sha256: string;
                    /** @description The number of items in the list. */
                    readonly size: number;
                };
                /** @description The user data that the draw is bound to. */
                readonly user_data?: string;
                /** @description The SHA-256 hash of the user data that the draw is bound to. */
                readonly user_data_sha256?: string;
                /** @description The nonce of the caller, in hex. The values depend on it. */
                readonly nonce?: string;
                /** @description The SHA-256 hash of a nonce that the caller reveals later. */
                readonly nonce_sha256?: string;
                /** @description The round of a public randomness beacon that the values depend on. */
                readonly beacon?: {
                    /** @description The hash of the beacon chain. */
                    readonly chain: string;
                    /** @description The number of the round. */
                    readonly round: number;
                };
                /**
                 * Format: date-time
                 * @description The time at which the draw fails if the beacon round or the nonce is still missing.
                 */
                readonly gives_up_at?: string;
            };
            /** @description The SHA-256 hash of the statement as canonical JSON. */
            readonly statement_sha256: string;
            /**
             * Format: date-time
             * @description The time at which the service committed to the draw.
             */
            readonly committed_at: string;
            /** @description The identifier of the certificate of the committed bytes. */
            readonly certificate_id: string;
            /** @description The certificate of the committed bytes. It is null until the certificate is available. */
            readonly certificate: components["schemas"]["CertificateDocument"] | null;
            /** @description The leaf in the log that commits to the draw. */
            readonly commit: {
                /** @description The leaf, as canonical JSON. */
                readonly leaf: string;
                /** @description The proof that the leaf is in the log (c2sp.org/tlog-proof). It is null until the leaf is logged. */
                readonly proof: string | null;
            };
            /** @description The answer that contains the committed bytes, without the remaining credits of the account. It is null until the draw ends. */
            readonly answer: components["schemas"]["DrawAnswer"] | null;
            /** @description The parameters of the beacon chain. The hash of the chain covers them. */
            readonly chain: Record<string, unknown> | null;
            /** @description The outcome of the draw, with its values. It is null until the draw ends. */
            readonly outcome: {
                /**
                 * @description The type of the object.
                 * @constant
                 */
                readonly type: "draw_outcome";
                /**
                 * @description The version of the format.
                 * @constant
                 */
                readonly version: 1;
                /** @description The SHA-256 hash of the statement as canonical JSON. */
                readonly statement_sha256: string;
                /**
                 * @description How the draw ended. This never changes.
                 * @enum {string}
                 */
                readonly state: "revealed" | "cancelled" | "failed";
                /**
                 * @description The reason why the draw was cancelled or failed. It is null if the draw was revealed.
                 * @enum {string|null}
                 */
                readonly reason: "cancelled" | "beacon_missing" | "beacon_wrong" | "nonce_missing" | "secret_lost" | null;
                /** @description The 32 committed bytes, in hex. */
                readonly secret: string | null;
                /** @description The nonce of the caller, in hex. */
                readonly nonce: string | null;
                /** @description The round of the beacon that the values depend on. */
                readonly beacon: {
                    /** @description The hash of the beacon chain. */
                    readonly chain: string;
                    /** @description The number of the round. */
                    readonly round: number;
                    /** @description The signature of the beacon for the round, in hex. */
                    readonly signature: string;
                    /** @description The randomness of the round, which follows from the signature, in hex. */
                    readonly randomness: string;
                    /** @description The signature of the previous round, which a chained scheme signs too, in hex. */
                    readonly previous_signature?: string;
                } | null;
                /** @description The winners or values. For a cancelled draw, the values that it would have had. It is null if the secret, the nonce or the beacon round is missing. */
                readonly values: readonly unknown[] | null;
                /**
                 * Format: date-time
                 * @description The time at which the draw ended.
                 */
                readonly ended_at: string;
            } | null;
            /** @description The leaf in the log that records the end of the draw. It is null until the draw ends. */
            readonly end: {
                /** @description The leaf, as canonical JSON. */
                readonly leaf: string;
                /** @description The proof that the leaf is in the log (c2sp.org/tlog-proof). It is null until the leaf is logged. */
                readonly proof: string | null;
            } | null;
            /** @description The probability of each item. Only draws with weights have it. */
            readonly chances?: readonly {
                /** @description The item. */
                readonly item: string;
                /** @description The probability in percent that one pick yields the item. */
                readonly percent: string;
            }[];
        };
        readonly IntegersAsked: {
            /**
             * Format: int64
             * @description The number of integers.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64
             * @description The lower bound, inclusive.
             * @default 0
             */
            readonly min?: number;
            /**
             * Format: int64
             * @description The upper bound, inclusive. It must be greater than `min`, by at most 2^53 - 1.
             * @default 100
             */
            readonly max?: number;
            /**
             * @description If true, no value occurs twice. The range must then contain at least `count` values.
             * @default false
             */
            readonly unique?: boolean;
            /**
             * @description The order of the values. `none` keeps the order in which they were drawn.
             * @default none
             * @enum {string}
             */
            readonly sort?: "none" | "ascending" | "descending";
        };
        readonly BytesAsked: {
            /**
             * Format: int64
             * @description The number of bytes.
             * @default 16
             */
            readonly count?: number;
            /**
             * @description The encoding of the bytes: lower-case hex, or base64 with padding (RFC 4648 §4).
             * @default hex
             * @enum {string}
             */
            readonly encoding?: "hex" | "base64";
        };
        readonly FloatsAsked: {
            /**
             * Format: int64
             * @description The number of floats.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64
             * @description The number of decimal places p. The values are then uniformly distributed over k / 10^p, where 0 <= k < 10^p. Without `precision` they are uniformly distributed multiples of 2^-53.
             */
            readonly precision?: number;
        };
        readonly UuidAsked: {
            /**
             * Format: int64
             * @description The number of UUIDs.
             * @default 1
             */
            readonly count?: number;
        };
        readonly BitstringAsked: {
            /**
             * Format: int64
             * @description The number of bits.
             * @default 128
             */
            readonly length?: number;
        };
        readonly ShuffleAsked: {
            /** @description The items. An item may be empty. Separate the items by commas, and encode each item as percent-encoded UTF-8. `%2C` is a comma within an item. If the value contains no literal comma, `%2C` separates items instead, because form encoders also encode the separators. `+` is a space. */
            readonly items: readonly string[];
        };
        readonly SampleAsked: {
            /**
             * Format: int64
             * @description The number of items to draw. It must not exceed the number of given items.
             * @default 1
             */
            readonly count?: number;
            /** @description The items. An item may be empty. Separate the items by commas, and encode each item as percent-encoded UTF-8. `%2C` is a comma within an item. If the value contains no literal comma, `%2C` separates items instead, because form encoders also encode the separators. `+` is a space. */
            readonly items: readonly string[];
        };
        readonly WeightedAsked: {
            /**
             * Format: int64
             * @description The number of picks.
             * @default 1
             */
            readonly count?: number;
            /** @description The items. An item may be empty. Separate the items by commas, and encode each item as percent-encoded UTF-8. `%2C` is a comma within an item. If the value contains no literal comma, `%2C` separates items instead, because form encoders also encode the separators. `+` is a space. */
            readonly items: readonly string[];
            /** @description The weights of the items, in the same order: one integer of at least 1 per item. The probability of item i is exactly weights[i] / sum of the weights. The sum must be at most 2^53. */
            readonly weights: readonly number[];
        };
        readonly StringsAsked: {
            /**
             * Format: int64
             * @description The number of strings.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64
             * @description The number of characters in each string.
             * @default 16
             */
            readonly length?: number;
            /**
             * @description The characters to choose from: 2 to 1,000 different Unicode characters.
             * @default ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789
             */
            readonly alphabet?: string;
        };
        readonly SequencesAsked: {
            /**
             * Format: int64
             * @description The number of times that all sequences are drawn.
             * @default 1
             */
            readonly count?: number;
            /** @description The length of each sequence. */
            readonly length: readonly number[];
            /** @description The lower bound of each sequence, inclusive. */
            readonly min: readonly number[];
            /** @description The upper bound of each sequence, inclusive. It must be greater than the lower bound of the same sequence, by at most 2^53 - 1. */
            readonly max: readonly number[];
            /**
             * @description If true, no number occurs twice in a sequence. Each range must then contain at least as many values as the sequence is long.
             * @default false
             */
            readonly unique?: boolean;
            /**
             * @description The order of the numbers in each sequence. `none` keeps the order in which they were drawn.
             * @default none
             * @enum {string}
             */
            readonly sort?: "none" | "ascending" | "descending";
        };
        readonly PermutationsAsked: {
            /**
             * Format: int64
             * @description The number of permutations.
             * @default 1
             */
            readonly count?: number;
            /**
             * Format: int64
             * @description The length of each permutation, which contains the numbers from 0 to length - 1.
             */
            readonly length: number;
        };
        readonly GaussiansAsked: {
            /**
             * Format: int64
             * @description The number of values.
             * @default 1
             */
            readonly count?: number;
            /**
             * @description The mean of the normal distribution. The service uses exactly the decimal number that the answer repeats.
             * @default 0
             */
            readonly mean?: number;
            /**
             * @description The standard deviation of the normal distribution. The service uses exactly the decimal number that the answer repeats.
             * @default 1
             */
            readonly stddev?: number;
            /**
             * Format: int64
             * @description The number of significant decimal digits to which each value is rounded.
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
