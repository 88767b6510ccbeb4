package install

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
)

// A signingKey is a key that the registry names as a key of the provider's authors.
type signingKey struct {
	ASCIIArmor string `json:"ascii_armor"`
}

// hashiCorpFingerprint is the fingerprint of HashiCorp's release key; see https://www.hashicorp.com/security.
// Only the displayed text depends on it: a signature by any key that the registry names is accepted.
const hashiCorpFingerprint = "c874011f0ab405110d02105534365d9472d7468f"

// verifySignature checks a detached OpenPGP signature. As in Terraform, it accepts keys that have expired
// since the signature was made, so that old releases can still be installed. It does not accept revoked keys.
func verifySignature(document, signature []byte, keys []signingKey) (Authentication, error) {
	var ring openpgp.EntityList
	for i, key := range keys {
		entities, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key.ASCIIArmor))
		if err != nil {
			return Authentication{}, fmt.Errorf("signing key %d of the registry: %w", i+1, err)
		}
		ring = append(ring, entities...)
	}
	signer, err := openpgp.CheckDetachedSignature(ring, bytes.NewReader(document), bytes.NewReader(signature), nil)
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return Authentication{}, fmt.Errorf("they are signed by none of the %d keys that the registry names", len(keys))
	case errors.Is(err, pgperrors.ErrKeyExpired) && signer != nil:
	case err != nil:
		return Authentication{}, err
	}
	auth := Authentication{SelfSigned, signer.PrimaryKey.KeyIdString()}
	if hex.EncodeToString(signer.PrimaryKey.Fingerprint) == hashiCorpFingerprint {
		auth.Kind = SignedByHashiCorp
	}
	return auth, nil
}

// parseChecksums reads a list in the format of sha256sum. It returns the checksums, in lower-case
// hexadecimal, by file name. Other lines are skipped.
func parseChecksums(list []byte) map[string]string {
	sums := map[string]string{}
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		sum, err := hex.DecodeString(fields[0])
		if err != nil || len(sum) != 32 {
			continue
		}
		sums[strings.TrimPrefix(fields[1], "*")] = hex.EncodeToString(sum)
	}
	return sums
}
