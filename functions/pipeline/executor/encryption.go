package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/encryptionpolicy"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
	"github.com/lockstep-iac/lockstep/statebackend/kms"
)

// ciphers encrypts the states and saved plans of a run in the way that the base branch says: see package
// encryptionpolicy. The keys are derived once for each run.
type ciphers struct {
	encryptionpolicy.Ciphers
	found diags.Diagnostics
	// change is the change of the encryption by the pull request.
	change notes.EncryptionChange
	read   bool
}

// A KMSFunc connects to AWS KMS for a job. arguments are those of the job's key provider.
type KMSFunc func(ctx context.Context, j jobs.Job, arguments map[string]any) (encryption.KMSClient, error)

// kmsWith returns a function that connects to AWS KMS. It uses the credentials for the job's state that
// sessions returns, or Lockstep's credentials if sessions is nil. So a job can use a key only if it may read
// the state. Providers have other roles, and cannot use the key.
func kmsWith(sessions Sessions) KMSFunc {
	return func(ctx context.Context, j jobs.Job, arguments map[string]any) (encryption.KMSClient, error) {
		arguments = maps.Clone(arguments)
		arguments["skip_credentials_validation"] = true // the first call to KMS checks them
		var credentials aws.CredentialsProvider
		if sessions != nil {
			var err error
			j.Access = jobs.Keys
			if credentials, err = sessions(ctx, j); err != nil {
				return nil, fmt.Errorf("no credentials for AWS KMS: %w", err)
			}
		}
		return kms.OpenAs(ctx, arguments, credentials)
	}
}

// keyArguments are the arguments of a key provider that select a key and say how it is used. A pull request may
// set them. Other arguments select credentials, files of the machine, or hosts, and a pull request must not set
// them.
var keyArguments = strings.Fields(`allowed_account_ids encrypted_metadata_alias forbidden_account_ids key_spec kms_key_id max_retries region
	retry_mode skip_credentials_validation skip_metadata_api_check skip_requesting_account_id use_dualstack_endpoint use_fips_endpoint`)

// refused returns the reason why a pull request must not set this argument of a key provider; "" if it may.
func refused(argument string) string {
	if slices.Contains(keyArguments, argument) {
		return ""
	}
	return fmt.Sprintf("The key provider sets %s, which is not for a pull request to say: Lockstep calls AWS KMS with the credentials for the state, and at addresses of its own. Remove the argument; on other machines, AWS_PROFILE and the other environment variables of AWS say it.", argument)
}

// baseCiphers returns the ciphers from the encryption block on the base branch.
func (c *ciphers) baseCiphers(o *checkout) (*encrypting.Set, diags.Diagnostics) {
	if c.read {
		return c.Set, c.found
	}
	in := encryptionpolicy.Input{
		Base: o.job.Sealing, Workspace: o.job.Workspace, Environment: o.vault[encrypting.Variable], Secrets: o.vault.source(),
		Refuse: refused, KMS: kmsOf(o), Budget: o.Budget,
	}
	c.Ciphers, c.found = in.Ciphers()
	c.read = true
	return c.Set, c.found
}

// kmsOf returns the function that connects to AWS KMS for a checkout; nil if the engine has none.
func kmsOf(o *checkout) encrypting.KMS {
	if o.engine.KMS == nil {
		return nil
	}
	return func(ctx context.Context, arguments map[string]any) (encryption.KMSClient, error) {
		return o.engine.KMS(ctx, o.job, arguments)
	}
}

// errSealing reports that a plan cannot be encrypted, usually because its key is not available. The errors that
// people see wrap it.
var errSealing = errors.New("it is kept encrypted or not at all")

// sealed encrypts an encoded plan for storage. If plans are not encrypted, it returns the plan unchanged.
func (c *ciphers) sealed(ctx context.Context, plan []byte) ([]byte, error) {
	p := c.Set.Plan()
	if p == nil {
		return plan, nil
	}
	out, err := p.EncryptPlan(ctx, plan)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSealing, err)
	}
	return out, nil
}

// unsealed decrypts a plan that sealed has encrypted.
func (c *ciphers) unsealed(ctx context.Context, plan []byte) ([]byte, error) {
	if p := c.Set.Plan(); p != nil {
		return p.DecryptPlan(ctx, plan)
	}
	return plan, nil
}

// encryptedBackend returns the backend of the job's state, with encryption of all states. Call it
// before sealed and unsealed.
func (o *checkout) encryptedBackend(ctx context.Context) (statebackend.Backend, diags.Diagnostics) {
	b, ds := o.backend(ctx)
	if ds.HasErrors() {
		return nil, ds
	}
	s, more := o.ciphers.baseCiphers(o)
	return encryption.Wrap(b, s.State()), append(ds, more...)
}
