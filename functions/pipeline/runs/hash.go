package runs

import (
	"crypto/sha256"
	"encoding/hex"
)

// HashOf returns the hash that identifies a saved plan or a report: SHA-256 of its bytes, in hexadecimal.
func HashOf(saved []byte) string {
	sum := sha256.Sum256(saved)
	return hex.EncodeToString(sum[:])
}
