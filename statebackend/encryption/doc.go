// Package encryption encrypts states, journals and saved plans, in the format of OpenTofu's state and plan
// encryption. Its input and output are bytes. A [Cipher] encrypts and decrypts for one target. [Wrap]
// encrypts everything that a backend stores. So neither the store, its backups and side records, nor the
// journal has a state in clear.
//
// The package does not depend on the source of a configuration, nor on AWS: a [Source] supplies keys, and a
// [KMSClient] calls the key service. Start at [Target].
//
// # The format
//
// A stored file is a JSON object:
//
//	serial, lineage      of a state, in clear, for tools that only compare them; a plan has none
//	meta                 for each key provider, by its name: the data to create the same key again
//	encrypted_data       a nonce of 12 bytes, the ciphertext, and a tag of 16 bytes, in Base64
//	encryption_version   "v0"
//
// Serial and lineage are also in the ciphertext, and must be equal there. A key is created once for each key
// provider, not for each save. Deriving a key from a passphrase takes half a second, and must succeed before
// an apply begins rather than at its end.
//
// Source: https://opentofu.org/docs/language/state/encryption/, and files that OpenTofu 1.12 has written;
// testdata has some.
package encryption
