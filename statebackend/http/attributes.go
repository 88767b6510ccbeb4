package http

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Attributes are the attributes of a `backend "http"` block: all that Terraform 1.11 has. Each attribute can
// also be set in the environment: the variable's name is TF_HTTP_ and the attribute's name in capitals.
var Attributes = []statebackend.Attribute{
	{Name: "address", Type: statebackend.String},
	{Name: "client_ca_certificate_pem", Type: statebackend.String},
	{Name: "client_certificate_pem", Type: statebackend.String},
	{Name: "client_private_key_pem", Type: statebackend.String, Secret: true},
	{Name: "lock_address", Type: statebackend.String},
	{Name: "lock_method", Type: statebackend.String},
	{Name: "password", Type: statebackend.String, Secret: true},
	{Name: "retry_max", Type: statebackend.Int},
	{Name: "retry_wait_max", Type: statebackend.Int},
	{Name: "retry_wait_min", Type: statebackend.Int},
	{Name: "skip_cert_verification", Type: statebackend.Bool},
	{Name: "unlock_address", Type: statebackend.String},
	{Name: "unlock_method", Type: statebackend.String},
	{Name: "update_method", Type: statebackend.String},
	{Name: "username", Type: statebackend.String},
}

// values has the values of a backend block, by the names of its attributes.
type values struct {
	Address              *string `json:"address"`
	UpdateMethod         *string `json:"update_method"`
	LockAddress          *string `json:"lock_address"`
	LockMethod           *string `json:"lock_method"`
	UnlockAddress        *string `json:"unlock_address"`
	UnlockMethod         *string `json:"unlock_method"`
	Username             *string `json:"username"`
	Password             *string `json:"password"`
	SkipCertVerification *bool   `json:"skip_cert_verification"`
	RetryMax             *int64  `json:"retry_max"`
	RetryWaitMin         *int64  `json:"retry_wait_min"`
	RetryWaitMax         *int64  `json:"retry_wait_max"`
	ClientCA             *string `json:"client_ca_certificate_pem"`
	ClientCertificate    *string `json:"client_certificate_pem"`
	ClientKey            *string `json:"client_private_key_pem"`
}

// settings are the checked values of the arguments. Environment variables and defaults stand in for missing
// arguments.
type settings struct {
	address, lock, unlock                  *url.URL // lock and unlock may be nil
	updateMethod, lockMethod, unlockMethod string
	username, password                     string
	retries                                int
	shortest, longest                      time.Duration // pauses between attempts
	tls                                    *tls.Config
}

// These are Terraform's defaults.
const (
	defaultUpdate   = "POST"
	defaultLock     = "LOCK"
	defaultUnlock   = "UNLOCK"
	defaultRetries  = 2
	defaultShortest = 1  // seconds
	defaultLongest  = 30 // seconds
)

// settle checks the values of a block. It takes missing values from the environment.
func settle(v values) (s settings, err error) {
	if s.address, err = address("address", v.Address); err != nil {
		return s, err
	}
	if s.address == nil {
		return s, &statebackend.AttributeError{Attribute: "address", Problem: "the attribute is required, here or as TF_HTTP_ADDRESS"}
	}
	if s.lock, err = address("lock_address", v.LockAddress); err != nil {
		return s, err
	}
	if s.unlock, err = address("unlock_address", v.UnlockAddress); err != nil {
		return s, err
	}
	s.updateMethod = text("update_method", v.UpdateMethod, defaultUpdate)
	s.lockMethod = text("lock_method", v.LockMethod, defaultLock)
	s.unlockMethod = text("unlock_method", v.UnlockMethod, defaultUnlock)
	s.username = text("username", v.Username, "")
	s.password = text("password", v.Password, "")
	var retries, shortest, longest int64
	for _, n := range []struct {
		name   string
		value  *int64
		absent int64
		into   *int64
	}{
		{"retry_max", v.RetryMax, defaultRetries, &retries},
		{"retry_wait_min", v.RetryWaitMin, defaultShortest, &shortest},
		{"retry_wait_max", v.RetryWaitMax, defaultLongest, &longest},
	} {
		if *n.into, err = number(n.name, n.value, n.absent); err != nil {
			return s, err
		}
	}
	s.retries, s.shortest, s.longest = int(retries), time.Duration(shortest)*time.Second, time.Duration(longest)*time.Second
	s.tls, err = transport(v)
	return s, err
}

// text returns the value of an attribute: from the block, or else from the environment, or else the default,
// which is the parameter absent.
func text(name string, v *string, absent string) string {
	if v != nil {
		return *v
	}
	return cmp.Or(os.Getenv(variable(name)), absent)
}

func address(name string, v *string) (*url.URL, error) {
	given := text(name, v, "")
	if given == "" {
		return nil, nil
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &statebackend.AttributeError{Attribute: name, Problem: "an address that begins with http:// or https:// is required"}
	}
	return u, nil
}

func number(name string, v *int64, absent int64) (int64, error) {
	if v == nil {
		given := os.Getenv(variable(name))
		if given == "" {
			return absent, nil
		}
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return 0, &statebackend.AttributeError{Attribute: name, Problem: fmt.Sprintf("the environment variable %s must be a whole number", variable(name))}
		}
		v = &n
	}
	if *v < 0 || *v > 1<<20 {
		return 0, &statebackend.AttributeError{Attribute: name, Problem: "a number that is not negative, and at most 1048576, is required"}
	}
	return *v, nil
}

// variable returns the name of the environment variable for an attribute.
func variable(name string) string { return "TF_HTTP_" + strings.ToUpper(name) }

// transport returns the block's TLS settings; nil if it has none.
func transport(v values) (*tls.Config, error) {
	ca := text("client_ca_certificate_pem", v.ClientCA, "")
	certificate := text("client_certificate_pem", v.ClientCertificate, "")
	key := text("client_private_key_pem", v.ClientKey, "")
	skip := v.SkipCertVerification != nil && *v.SkipCertVerification
	if ca == "" && certificate == "" && key == "" && !skip {
		return nil, nil
	}
	c := &tls.Config{InsecureSkipVerify: skip}
	if ca != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, &statebackend.AttributeError{Attribute: "client_ca_certificate_pem", Problem: "it has no certificate in PEM format"}
		}
	}
	switch {
	case certificate == "" && key != "":
		return nil, &statebackend.AttributeError{Attribute: "client_certificate_pem", Problem: "the private key needs its certificate"}
	case certificate != "" && key == "":
		return nil, &statebackend.AttributeError{Attribute: "client_private_key_pem", Problem: "the certificate needs its private key"}
	case certificate != "":
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			return nil, &statebackend.AttributeError{Attribute: "client_certificate_pem", Problem: "certificate and private key are not a pair in PEM format"}
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
