package encryption

// A Target is something to encrypt: the state, a plan, or somebody else's state.
type Target struct {
	// Methods are tried in order to decrypt; the first encrypts. There is at least one.
	Methods []Method
	// Enforced refuses whatever is not encrypted.
	Enforced bool
}

// A Method encrypts with AES-GCM, or leaves everything as it is.
type Method struct {
	Name string // "method.aes_gcm.NAME", for messages
	// Keys are nil for the method that leaves everything as it is.
	Keys *Keys
	// AAD is authenticated together with the ciphertext: it has to be the same at decryption.
	AAD []byte
}

// unencrypted reports whether the target accepts what is not encrypted.
func (t Target) unencrypted() bool {
	for _, m := range t.Methods {
		if m.Keys == nil {
			return !t.Enforced
		}
	}
	return false
}
