import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** An OpenAPI document as far as tests look into it. */
export interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Readonly<Record<string, unknown>>;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly headers?: object; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;

/** The schemas of a document, compiled; formats are checked by their patterns alone. */
export class DocumentSchemas {
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<object, ValidateFunction>();
  /** Many places have the same schema, and compiling takes most of the time. */
  readonly #byText = new Map<string, ValidateFunction>();

  constructor(document: Document) {
    this.#ajv = new Ajv2020({ strict: true, allErrors: true, strictTypes: false, validateFormats: false });
    this.#ajv.addVocabulary(['components', 'example']);
    this.#ajv.addSchema({ $id: 'document', components: document.components }, 'document');
  }

  /** Returns what is wrong with the value, or ''. `schema` may be anywhere in the document. */
  complaint(schema: object, value: unknown): string {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      const absolute = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
      validate = this.#byText.get(absolute) ?? this.#ajv.compile(JSON.parse(absolute) as object);
      this.#byText.set(absolute, validate);
      this.#compiled.set(schema, validate);
    }
    return validate(value) ? '' : this.#ajv.errorsText(validate.errors);
  }
}
