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
    "summary": "Random integers in a range, each equally likely.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many integers."
      },
      "min": {
        "type": "integer",
        "default": 0,
        "description": "Lower bound, inclusive."
      },
      "max": {
        "type": "integer",
        "default": 100,
        "description": "Upper bound, inclusive; more than min, and at most 2^53 - 1 above it."
      },
      "unique": {
        "type": "boolean",
        "default": false,
        "description": "No value twice; the range must hold at least count values."
      },
      "sort": {
        "type": "string",
        "enum": [
          "none",
          "ascending",
          "descending"
        ],
        "default": "none",
        "description": "Order of the values."
      }
    }
  },
  "bytes": {
    "summary": "Random bytes.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 16,
        "description": "How many bytes."
      },
      "encoding": {
        "type": "string",
        "enum": [
          "hex",
          "base64"
        ],
        "default": "hex",
        "description": "hex in lower case, or base64 with padding (RFC 4648 §4)."
      }
    }
  },
  "floats": {
    "summary": "Random IEEE 754 doubles in [0, 1).",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many floats."
      },
      "precision": {
        "type": "integer",
        "description": "Decimal places p: values are uniform on k / 10^p, 0 <= k < 10^p. Left out: uniform multiples of 2^-53."
      }
    }
  },
  "uuid": {
    "summary": "Random UUIDs of version 4 (RFC 9562 §5.4).",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many UUIDs."
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
        "description": "How many bits."
      }
    }
  },
  "shuffle": {
    "summary": "The items in a random order, each order equally likely.",
    "required": [
      "items"
    ],
    "properties": {
      "items": {
        "type": "array",
        "description": "The items; one may be empty. Separated by commas, each percent-encoded UTF-8. %2C is a comma in an item, unless the value has no literal comma: then it separates items, as form encoders write it. + is a blank."
      }
    }
  },
  "sample": {
    "summary": "Some of the items in the order drawn, each sequence equally likely; no item twice.",
    "required": [
      "items"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many of the items; at most all of them."
      },
      "items": {
        "type": "array",
        "description": "The items; one may be empty. Separated by commas, each percent-encoded UTF-8. %2C is a comma in an item, unless the value has no literal comma: then it separates items, as form encoders write it. + is a blank."
      }
    }
  },
  "weighted": {
    "summary": "Independent picks from weighted items; an item may be picked more than once.",
    "required": [
      "items",
      "weights"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many picks."
      },
      "items": {
        "type": "array",
        "description": "The items; one may be empty. Separated by commas, each percent-encoded UTF-8. %2C is a comma in an item, unless the value has no literal comma: then it separates items, as form encoders write it. + is a blank."
      },
      "weights": {
        "type": "array",
        "description": "A whole number from 1 on for each item, in their order. Item i is drawn with probability weights[i] / sum, exactly; the sum is at most 2^53."
      }
    }
  },
  "strings": {
    "summary": "Random strings over an alphabet, each character equally likely.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many strings."
      },
      "length": {
        "type": "integer",
        "default": 16,
        "description": "Characters of each string."
      },
      "alphabet": {
        "type": "string",
        "default": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "description": "The characters to choose from: 2 to 1,000 Unicode code points, none twice."
      }
    }
  },
  "sequences": {
    "summary": "Sequences of integers, each with a length and a range of its own, drawn together.",
    "required": [
      "length",
      "min",
      "max"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How often all sequences are drawn."
      },
      "length": {
        "type": "array",
        "description": "How many numbers each sequence has."
      },
      "min": {
        "type": "array",
        "description": "Lower bound of each sequence, inclusive."
      },
      "max": {
        "type": "array",
        "description": "Upper bound of each sequence, inclusive; more than its min, and at most 2^53 - 1 above it."
      },
      "unique": {
        "type": "boolean",
        "default": false,
        "description": "No number twice in a sequence; each range must hold its length of values."
      },
      "sort": {
        "type": "string",
        "enum": [
          "none",
          "ascending",
          "descending"
        ],
        "default": "none",
        "description": "Order of the numbers in each sequence."
      }
    }
  },
  "permutations": {
    "summary": "The numbers from 0 to length - 1 in a random order, each order equally likely.",
    "required": [
      "length"
    ],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many permutations."
      },
      "length": {
        "type": "integer",
        "description": "Each permutation is of the numbers from 0 to length - 1."
      }
    }
  },
  "gaussians": {
    "summary": "Normally distributed numbers, exactly sampled and exactly rounded.",
    "required": [],
    "properties": {
      "count": {
        "type": "integer",
        "default": 1,
        "description": "How many numbers."
      },
      "mean": {
        "type": "number",
        "default": 0,
        "description": "Mean of the normal distribution: exactly the decimal that the answer echoes."
      },
      "stddev": {
        "type": "number",
        "default": 1,
        "description": "Standard deviation, likewise."
      },
      "digits": {
        "type": "integer",
        "default": 14,
        "description": "Significant decimal digits that each value is rounded to, exactly."
      }
    }
  }
};
