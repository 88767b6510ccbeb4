package encryption

import (
	"fmt"
	"strings"
)

// An UnencryptedError reports that a file is not encrypted, although the configuration requires it.
// Encryption is required if no method or fallback is "unencrypted", or if enforced is set. Enforced reports
// whether enforced is set.
type UnencryptedError struct{ Enforced bool }

// Error implements error.
func (e *UnencryptedError) Error() string {
	if e.Enforced {
		return "it is not encrypted, and the configuration enforces encryption. If it was encrypted before, somebody has replaced it: find out who. To encrypt it now, for one apply leave enforced out and add a fallback with a method \"unencrypted\""
	}
	return "it is not encrypted, and the configuration does not accept that. If it was encrypted before, somebody has replaced it: find out who. To encrypt it now, add a fallback with a method \"unencrypted\" for one apply"
}

// A DecryptError reports that no method could decrypt a file.
type DecryptError struct {
	Reasons []string // by method
}

// Error implements error.
func (e *DecryptError) Error() string {
	return fmt.Sprintf("it is encrypted, and cannot be decrypted: %s. Nothing was written. Give the passphrase or the key that it was encrypted with; if that has changed, name the former method in a fallback block", strings.Join(e.Reasons, "; "))
}

// notAuthentic is the reason if the authentication tag does not match. The tag reveals no more than that.
const notAuthentic = "its key is another one (a wrong passphrase, for instance), or the file was changed since it was written"
