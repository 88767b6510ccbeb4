// Package kms has AWS KMS make and decrypt the keys of encrypted states. It refuses to know what is
// encrypted with them. Start at [Open].
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

// Open finds credentials and connects to KMS. The arguments are those of the backend "s3" about
// credentials, regions and connections. The endpoint can be set by AWS_ENDPOINT_URL_KMS.
func Open(ctx context.Context, arguments map[string]any) (encryption.KMSClient, error) {
	return OpenAs(ctx, arguments, nil)
}

// OpenAs is [Open] with credentials of the caller's in the place of all others; nil: those that Open
// finds.
func OpenAs(ctx context.Context, arguments map[string]any, credentials aws.CredentialsProvider) (encryption.KMSClient, error) {
	sdk, err := s3.SDK(ctx, arguments, credentials)
	if err != nil {
		return nil, err
	}
	return client{awskms.NewFromConfig(sdk)}, nil
}

type client struct{ kms *awskms.Client }

// GenerateDataKey implements encryption.KMSClient.
func (c client) GenerateDataKey(ctx context.Context, keyID, spec string) (plain, encrypted []byte, err error) {
	out, err := c.kms.GenerateDataKey(ctx, &awskms.GenerateDataKeyInput{KeyId: &keyID, KeySpec: types.DataKeySpec(spec)})
	if err != nil {
		return nil, nil, explained(err, "kms:GenerateDataKey")
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

// Decrypt implements encryption.KMSClient.
func (c client) Decrypt(ctx context.Context, keyID string, encrypted []byte) ([]byte, error) {
	out, err := c.kms.Decrypt(ctx, &awskms.DecryptInput{KeyId: aws.String(keyID), CiphertextBlob: encrypted})
	if err != nil {
		return nil, explained(err, "kms:Decrypt")
	}
	return out.Plaintext, nil
}

// explained shortens an error of the SDK to the service's words, and adds a remedy.
func explained(err error, right string) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	if api.ErrorCode() == "AccessDeniedException" {
		return &refusal{statebackend.ErrDenied, api.ErrorMessage() + " (allow " + right + " on the key, in the role's policy or the key's)"}
	}
	return &refusal{err, api.ErrorCode() + ": " + api.ErrorMessage()}
}

// A refusal is an error with other words.
type refusal struct {
	err  error
	text string
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.err }
