// Made of the OpenAPI document by test/generated-client/client-types.ts.

export interface Parameter {
  readonly type: string | readonly string[];
  readonly description: string;
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean | null;
}

/** Its own parameters, without those of every call. */
export interface AskedKind {
  readonly summary: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Parameter>>;
}

export const KINDS: Readonly<Record<string, AskedKind>> = {
  "integers": {
    "summary": "Random integers from a range.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of integers."
      },
      "min": {
        "type": "integer",
        "default": 0,
        "description": "The lower bound, inclusive."
      },
      "max": {
        "type": "integer",
        "default": 100,
        "description": "The upper bound, inclusive. It must be greater than `min`, by at most 2^53 - 1."
      },
      "unique": {
        "type": "boolean",
        "default": false,
        "description": "If true, no value occurs twice. The range must then contain at least `count` values."
      },
      "sort": {
        "type": "string",
        "enum": [
          "none",
          "ascending",
          "descending"
        ],
        "default": "none",
        "description": "The order of the values. `none` keeps the order in which they were drawn."
      }
    }
  },
  "bytes": {
    "summary": "Random bytes, in hex or base64.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 16,
        "description": "The number of bytes."
      },
      "encoding": {
        "type": "string",
        "enum": [
          "hex",
          "base64"
        ],
        "default": "hex",
        "description": "The encoding of the bytes: lower-case hex, or base64 with padding (RFC 4648 §4)."
      }
    }
  },
  "floats": {
    "summary": "Random floating-point numbers (IEEE 754 doubles) from 0 up to but not including 1.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of floats."
      },
      "precision": {
        "type": "integer",
        "description": "The number of decimal places p. The values are then uniformly distributed over k / 10^p, where 0 <= k < 10^p. Without `precision` they are uniformly distributed multiples of 2^-53."
      }
    }
  },
  "uuid": {
    "summary": "Random UUIDs, version 4 (RFC 9562 §5.4).",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of UUIDs."
      }
    }
  },
  "bitstring": {
    "summary": "A random string of the digits 0 and 1.",
    "required": [],
    "properties": {
      "length": {
        "type": "integer",
        "default": 128,
        "description": "The number of bits."
      }
    }
  },
  "shuffle": {
    "summary": "The given items in random order.",
    "required": [
      "items"
    ],
    "properties": {
      "items": {
        "type": "array",
        "description": "The items. An item may be empty. Separate the items by commas, and encode each item as percent-encoded UTF-8. `%2C` is a comma within an item. If the value contains no literal comma, `%2C` separates items instead, because form encoders also encode the separators. `+` is a space."
      }
    }
  },
  "sample": {
    "summary": "A random sample of the given items without repetition, in the order of drawing.",
    "required": [
      "items"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of items to draw. It must not exceed the number of given items."
      },
      "items": {
        "type": "array",
        "description": "The items. An item may be empty. Separate the items by commas, and encode each item as percent-encoded UTF-8. `%2C` is a comma within an item. If the value contains no literal comma, `%2C` separates items instead, because form encoders also encode the separators. `+` is a space."
      }
    }
  },
  "weighted": {
    "summary": "Independent random picks from weighted items.",
    "required": [
      "items",
      "weights"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of picks."
      },
      "items": {
        "type": "array",
        "description": "The items. An item may be empty. Separate the items by commas, and encode each item as percent-encoded UTF-8. `%2C` is a comma within an item. If the value contains no literal comma, `%2C` separates items instead, because form encoders also encode the separators. `+` is a space."
      },
      "weights": {
        "type": "array",
        "description": "The weights of the items, in the same order: one integer of at least 1 per item. The probability of item i is exactly weights[i] / sum of the weights. The sum must be at most 2^53."
      }
    }
  },
  "strings": {
    "summary": "Random strings over an alphabet.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of strings."
      },
      "length": {
        "type": "integer",
        "default": 16,
        "description": "The number of characters in each string."
      },
      "alphabet": {
        "type": "string",
        "default": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "description": "The characters to choose from: 2 to 1,000 different Unicode characters."
      }
    }
  },
  "sequences": {
    "summary": "Several sequences of random integers in one answer.",
    "required": [
      "length",
      "min",
      "max"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of times that all sequences are drawn."
      },
      "length": {
        "type": "array",
        "description": "The length of each sequence."
      },
      "min": {
        "type": "array",
        "description": "The lower bound of each sequence, inclusive."
      },
      "max": {
        "type": "array",
        "description": "The upper bound of each sequence, inclusive. It must be greater than the lower bound of the same sequence, by at most 2^53 - 1."
      },
      "unique": {
        "type": "boolean",
        "default": false,
        "description": "If true, no number occurs twice in a sequence. Each range must then contain at least as many values as the sequence is long."
      },
      "sort": {
        "type": "string",
        "enum": [
          "none",
          "ascending",
          "descending"
        ],
        "default": "none",
        "description": "The order of the numbers in each sequence. `none` keeps the order in which they were drawn."
      }
    }
  },
  "permutations": {
    "summary": "Random permutations of the numbers from 0 to length - 1.",
    "required": [
      "length"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of permutations."
      },
      "length": {
        "type": "integer",
        "description": "The length of each permutation, which contains the numbers from 0 to length - 1."
      }
    }
  },
  "gaussians": {
    "summary": "Random numbers from a normal distribution, sampled exactly and rounded exactly.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "The number of values."
      },
      "mean": {
        "type": "number",
        "default": 0,
        "description": "The mean of the normal distribution. The service uses exactly the decimal number that the answer repeats."
      },
      "stddev": {
        "type": "number",
        "default": 1,
        "description": "The standard deviation of the normal distribution. The service uses exactly the decimal number that the answer repeats."
      },
      "digits": {
        "type": "integer",
        "default": 14,
        "description": "The number of significant decimal digits to which each value is rounded."
      }
    }
  }
};
