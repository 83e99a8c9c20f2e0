/** A key pair for SSH, made in this browser: the private key is never sent anywhere. */
export type KeyPair = { publicKey: string; privateKey: string };

const TYPE = "ssh-ed25519";
/** The private part is a whole number of blocks of a cipher, also where there is none. */
const BLOCK = 8;
const LINE = 70;

/** Whether the browser can make one: only where the panel is served by HTTPS, or from this computer. */
export const canMakeKeys = () => globalThis.crypto?.subtle !== undefined;

/** An Ed25519 key pair in OpenSSH's formats (PROTOCOL.key of OpenSSH). */
export async function makeKeyPair(comment: string): Promise<KeyPair> {
  const made = (await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"])) as CryptoKeyPair;
  const { d, x } = await crypto.subtle.exportKey("jwk", made.privateKey);
  const [seed, point] = [fromBase64Url(d ?? ""), fromBase64Url(x ?? "")];
  const shared = joined(text(TYPE), bytes(point));
  const check = crypto.getRandomValues(new Uint8Array(4));
  const secret = joined(check, check, text(TYPE), bytes(point), bytes(joined(seed, point)), text(comment));
  const padding = Uint8Array.from({ length: (BLOCK - (secret.length % BLOCK)) % BLOCK }, (_, index) => index + 1);
  const file = joined(ascii("openssh-key-v1\0"), text("none"), text("none"), text(""), number(1), bytes(shared), bytes(joined(secret, padding)));
  const lines = base64(file).match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return {
    publicKey: `${TYPE} ${base64(shared)} ${comment}`,
    privateKey: ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n"),
  };
}

const ascii = (value: string) => new TextEncoder().encode(value);
const base64 = (value: Uint8Array) => btoa(String.fromCharCode(...value));
const fromBase64Url = (value: string) => Uint8Array.from(atob(value.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));

function number(value: number): Uint8Array {
  const made = new Uint8Array(4);
  new DataView(made.buffer).setUint32(0, value);
  return made;
}

const bytes = (value: Uint8Array) => joined(number(value.length), value);
const text = (value: string) => bytes(ascii(value));

function joined(...parts: Uint8Array[]): Uint8Array {
  const made = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}
