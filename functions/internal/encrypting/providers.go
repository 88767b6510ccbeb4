package encrypting

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// aliasArgument is the argument, in every key provider, that sets the name of the provider's metadata in
// encrypted files.
const aliasArgument = "encrypted_metadata_alias"

// elsewhere are key providers of OpenTofu that Lockstep does not support.
var elsewhere = []string{"azure_vault", "gcp_kms", "openbao"}

// provider returns a key provider; nil if there was an error.
func (r *reader) provider(d *declared) *encryption.Keys {
	if k, ok := r.keys[d.address]; ok {
		if k == nil && !r.failed[d.address] {
			r.errorf(d.at, "Circular reference", "The key provider %s is chained to itself, by way of others or not. Take one of the chain arguments out.", d.address)
		}
		return k
	}
	r.keys[d.address] = nil
	var k *encryption.Keys
	switch {
	case d.kind == "pbkdf2":
		k = r.pbkdf2(d)
	case d.kind == "aws_kms":
		k = r.kms(d)
	case d.kind == "external":
		k = r.external(d)
	case slices.Contains(elsewhere, d.kind):
		r.errorf(d.at, "Unsupported key provider", "Lockstep does not support the key provider %q: it has no client for that service. Use \"pbkdf2\" or \"aws_kms\". On a command line, you can also use \"external\" with a program that gets the key. If a state is encrypted already, set the new method with the present one as its fallback, and run \"tofu apply\" once.", d.kind)
	default:
		r.errorf(d.at, "Unknown key provider", "There is no key provider %q: use \"pbkdf2\", \"aws_kms\" or \"external\".", d.kind)
	}
	r.keys[d.address], r.failed[d.address] = k, k == nil
	return k
}

// name returns the name of a key provider's metadata in encrypted files: the value of alias if it is set.
func (r *reader) name(d *declared, alias hcl.Expression) string {
	if alias == nil {
		return d.address
	}
	if v, ok := r.value(alias, cty.String); ok && !v.IsNull() && v.AsString() != "" {
		return v.AsString()
	}
	return d.address
}

func (r *reader) pbkdf2(d *declared) *encryption.Keys {
	attrs := r.attributes(d, []string{"passphrase", "chain", "key_length", "iterations", "hash_function", "salt_length", aliasArgument})
	before := len(r.ds)
	p := encryption.DefaultPBKDF2()
	var chain *encryption.Keys
	var chained imprint
	if x := attrs["chain"]; x != nil {
		if c, ok := r.reference(x, "key_provider"); ok {
			chain = r.provider(c)
			chained = r.imprints[c.address]
		}
	}
	if x := attrs["passphrase"]; x != nil {
		r.text(x, &p.Passphrase, passphraseOfLater)
	}
	if x := attrs["hash_function"]; x != nil {
		r.text(x, &p.Hash, p.Hash)
	}
	for name, into := range map[string]*int{"key_length": &p.KeyLength, "iterations": &p.Iterations, "salt_length": &p.SaltLength} {
		if x := attrs[name]; x != nil {
			*into = r.number(x, *into)
		}
	}
	name := r.name(d, attrs[aliasArgument])
	if r.ds[before:].HasErrors() {
		return nil
	}
	if err := p.Check(chain != nil); err != nil {
		r.errorf(d.at, "Invalid key provider", "%s: %s.", d.address, err)
		return nil
	}
	r.lengths[d.address] = p.KeyLength
	r.imprint(d.address, name, p, chained)
	return encryption.NewKeys(name, p, chain)
}

// passphraseOfLater is used instead of a passphrase whose value is not known during validation.
const passphraseOfLater = "not known before a plan"

// text evaluates an expression whose value is a string, and stores the value in into. During validation the
// value may not be known: then text stores unknown.
func (r *reader) text(x hcl.Expression, into *string, unknown string) {
	before := len(r.ds)
	v, ok := r.value(x, cty.String)
	switch {
	case ok && !v.IsNull():
		*into = v.AsString()
	case !ok && !r.ds[before:].HasErrors():
		*into = unknown
	}
}

func (r *reader) number(x hcl.Expression, otherwise int) int {
	v, ok := r.value(x, cty.Number)
	if !ok || v.IsNull() {
		return otherwise
	}
	n, _ := v.AsBigFloat().Int64()
	if n < 0 || n > 1<<31-1 || !cty.NumberIntVal(n).RawEquals(v) {
		r.errorf(x.Range(), "Unsuitable value", "The value must be a whole number, and not negative.")
	}
	return int(n)
}

func (r *reader) kms(d *declared) *encryption.Keys {
	before := len(r.ds)
	arguments := map[string]any{}
	for _, body := range d.bodies {
		r.kmsArguments(body, arguments)
	}
	if r.ds[before:].HasErrors() {
		return nil
	}
	take := func(name string) string {
		s, _ := arguments[name].(string)
		delete(arguments, name)
		return s
	}
	name := take(aliasArgument)
	if name == "" {
		name = d.address
	}
	k := encryption.KMS{KeyID: take("kms_key_id"), Spec: take("key_spec")}
	if err := k.Check(); err != nil {
		r.errorf(d.at, "Invalid key provider", "%s: %s.", d.address, err)
		return nil
	}
	r.lengths[d.address] = map[string]int{"AES_256": 32, "AES_128": 16}[k.Spec]
	r.imprintKMS(d.address, name, k, arguments)
	var mu sync.Mutex
	var client encryption.KMSClient
	k.Open = func(ctx context.Context) (encryption.KMSClient, error) {
		mu.Lock()
		defer mu.Unlock()
		if client != nil {
			return client, nil
		}
		if r.in.KMS == nil {
			return nil, errors.New("AWS KMS is not available here")
		}
		c, err := r.in.KMS(ctx, arguments)
		client = c
		return c, err
	}
	return encryption.NewKeys(name, k, nil)
}

// external reads a key provider whose keys a program returns.
func (r *reader) external(d *declared) *encryption.Keys {
	if r.in.Program == nil {
		r.errorf(d.at, "Key provider not allowed here", "The key provider \"external\" runs a program. Lockstep runs no external programs for keys in a pipeline, because every pull request could name a program. Use \"pbkdf2\" or \"aws_kms\". If a state is encrypted already, set the new method with the present one as its fallback, and run \"lockstep apply\" once on a command line.")
		return nil
	}
	attrs := r.attributes(d, []string{"command", aliasArgument})
	before := len(r.ds)
	x := encryption.External{Run: r.in.Program}
	if e := attrs["command"]; e != nil {
		v, ok := r.value(e, cty.List(cty.String))
		switch {
		case ok && !v.IsNull():
			for _, word := range v.AsValueSlice() {
				if word.IsNull() {
					r.errorf(e.Range(), "Unsuitable value", "The command has a null. Remove it, or write a string.")
					return nil
				}
				x.Command = append(x.Command, word.AsString())
			}
		case !ok && !r.ds[before:].HasErrors():
			x.Command = []string{"not known"} // during validation
		}
	}
	name := r.name(d, attrs[aliasArgument])
	if r.ds[before:].HasErrors() {
		return nil
	}
	if err := x.Check(); err != nil {
		r.errorf(d.at, "Invalid key provider", "%s: %s.", d.address, err)
		return nil
	}
	// The program decides about the length. A key of another length than 32 bytes causes an error when it is
	// used.
	r.lengths[d.address] = 32
	r.imprintExternal(d.address, name, x)
	return encryption.NewKeys(name, x, nil)
}

// kmsSchema is the schema of a block `key_provider "aws_kms"`.
//
// Source: https://opentofu.org/docs/language/state/encryption/#aws-kms
var kmsSchema = func() *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "endpoints"}}}
	for _, name := range strings.Fields(aliasArgument + ` kms_key_id key_spec access_key max_retries profile region secret_key
		skip_credentials_validation skip_requesting_account_id sts_region token http_proxy https_proxy no_proxy insecure
		use_dualstack_endpoint use_fips_endpoint custom_ca_bundle ec2_metadata_service_endpoint ec2_metadata_service_endpoint_mode
		skip_metadata_api_check shared_credentials_files shared_config_files assume_role assume_role_with_web_identity
		allowed_account_ids forbidden_account_ids retry_mode`) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	return s
}()

// keyOfLater has values for required arguments whose real values are not known during validation.
var keyOfLater = map[string]any{"kms_key_id": "not known", "key_spec": "AES_256"}

// kmsArguments evaluates all arguments of a block and of the endpoints blocks in it. It stores the values in
// into.
func (r *reader) kmsArguments(body hcl.Body, into map[string]any) {
	content, hs := body.Content(kmsSchema)
	r.problems(hs)
	for _, b := range content.Blocks {
		r.refuse(b.Type, b.DefRange)
		nested := map[string]any{}
		attrs, hs := b.Body.JustAttributes()
		r.problems(hs)
		r.allOf(attrs, nested)
		into["endpoints"] = nested
	}
	for name, a := range content.Attributes {
		r.refuse(name, a.NameRange)
	}
	r.allOf(content.Attributes, into)
}

// refuse adds an error if [Input.Refuse] does not allow the argument. at is the argument's place in the source.
func (r *reader) refuse(argument string, at hcl.Range) {
	if r.in.Refuse == nil {
		return
	}
	if why := r.in.Refuse(argument); why != "" {
		r.errorf(at, "Encryption argument not allowed", "%s", why)
	}
}

func (r *reader) allOf(attrs hcl.Attributes, into map[string]any) {
	for name, a := range attrs {
		before := len(r.ds)
		v, ok := r.value(a.Expr, cty.DynamicPseudoType)
		if !ok && !r.ds[before:].HasErrors() {
			into[name] = keyOfLater[name]
		}
		if !ok || v.IsNull() {
			continue
		}
		data, err := ctyjson.Marshal(v, v.Type())
		var plain any
		if err == nil {
			err = json.Unmarshal(data, &plain)
		}
		if err != nil {
			r.errorf(a.Expr.Range(), "Unsuitable value", "The value of %s is not valid: %s.", name, err)
		}
		into[name] = plain
	}
}
