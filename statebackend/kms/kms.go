// Package kms lets AWS KMS create and decrypt the keys of encrypted states. It does not know what the keys
// encrypt. Start at [Open].
package kms

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
)

// Open finds credentials and returns a client for KMS. arguments has attributes of the backend "s3" for
// credentials, regions and connections. AWS_ENDPOINT_URL_KMS can set the endpoint.
func Open(ctx context.Context, arguments map[string]any) (encryption.KMSClient, error) {
	return OpenAs(ctx, arguments, nil)
}

// OpenAs returns a client, as [Open] does, that uses these credentials only. If credentials is nil, it finds
// credentials as Open does.
func OpenAs(ctx context.Context, arguments map[string]any, credentials aws.CredentialsProvider) (encryption.KMSClient, error) {
	sdk, err := s3.SDK(ctx, arguments, credentials)
	if err != nil {
		return nil, err
	}
	return client{awskms.NewFromConfig(sdk)}, nil
}

type client struct{ kms *awskms.Client }

// GenerateDataKey implements encryption.KMSClient: it returns a new key, in clear and encrypted.
func (c client) GenerateDataKey(ctx context.Context, keyID, spec string) (plain, encrypted []byte, err error) {
	out, err := c.kms.GenerateDataKey(ctx, &awskms.GenerateDataKeyInput{KeyId: &keyID, KeySpec: types.DataKeySpec(spec)})
	if err != nil {
		return nil, nil, explained(err, "kms:GenerateDataKey")
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

// Decrypt implements encryption.KMSClient: it decrypts a key.
func (c client) Decrypt(ctx context.Context, keyID string, encrypted []byte) ([]byte, error) {
	out, err := c.kms.Decrypt(ctx, &awskms.DecryptInput{KeyId: aws.String(keyID), CiphertextBlob: encrypted})
	if err != nil {
		return nil, explained(err, "kms:Decrypt")
	}
	return out.Plaintext, nil
}

// explained reduces an error of the SDK to the service's own text, and adds what to do. right is the
// permission that may be missing.
func explained(err error, right string) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	if api.ErrorCode() == "AccessDeniedException" {
		return &refusal{statebackend.ErrDenied, api.ErrorMessage() + " (allow " + right + " on the key, in the role's policy or the key's)"}
	}
	switch code := api.ErrorCode(); code {
	case "InvalidCiphertextException", "IncorrectKeyException": // these errors have no message, or a message that does not say what to do
		return &refusal{err, "another KMS key has encrypted this data key, or it was changed (" + code + "): set kms_key_id to the key that encrypted the state"}
	default:
		return &refusal{err, code + ": " + api.ErrorMessage()}
	}
}

// A refusal gives an error another text, and keeps the error for errors.Is and errors.As.
type refusal struct {
	err  error
	text string
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.err }
