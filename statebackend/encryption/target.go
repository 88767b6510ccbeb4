package encryption

// A Target is the encryption of one kind of file: the state, plans, or a state that terraform_remote_state
// reads.
type Target struct {
	// Methods has at least one method. The first encrypts. To decrypt, all are tried in this order.
	Methods []Method
	// Enforced means that a file that is not encrypted is refused.
	Enforced bool
}

// A Method encrypts with AES-GCM. The method "unencrypted" changes nothing.
type Method struct {
	Name string // "method.aes_gcm.NAME", for messages
	// Keys is the key provider; nil for the method "unencrypted".
	Keys *Keys
	// AAD is authenticated together with the ciphertext: decryption fails with another AAD.
	AAD []byte
}

// unencrypted reports whether the target accepts files that are not encrypted.
func (t Target) unencrypted() bool {
	for _, m := range t.Methods {
		if m.Keys == nil {
			return !t.Enforced
		}
	}
	return false
}
