// Package encryption keeps states, journals and saved plans encrypted, in the format of OpenTofu's state
// and plan encryption: bytes in, bytes out. A [Cipher] encrypts and decrypts for one target, and [Wrap]
// puts it between a backend and its users, so that nothing beyond them sees a state in clear: not the
// store, its backups and side records, nor the journal.
//
// It refuses to know where a configuration comes from, and AWS: keys are handed out by a [Source], and
// the calls of a key service are behind [KMSClient]. Start at [Target].
//
// # The format
//
// What is stored is a JSON object:
//
//	serial, lineage      of a state, in clear, for whoever only compares them; a plan has none
//	meta                 for each key provider: what it needs to make the same key again, by its name
//	encrypted_data       a nonce of 12 bytes, the ciphertext, and a tag of 16 bytes, in Base64
//	encryption_version   "v0"
//
// Serial and lineage are in the ciphertext as well, and have to be the same. A key is made once for each
// key provider, not for each save: deriving one from a passphrase takes half a second, and must work before an
// apply begins rather than at its end.
//
// Source: https://opentofu.org/docs/language/state/encryption/, and files that OpenTofu 1.12 has written;
// testdata has some.
package encryption
