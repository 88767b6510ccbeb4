// Package cliconfig reads the CLI configuration: what the person or machine that
// runs us has set up for all working directories. Credentials for hosts, where
// providers are installed from, the plugin cache, development overrides; and the
// environment variables that speak of the same things.
//
// The files are Terraform's (`~/.terraformrc`, `~/.terraform.d/*.tfrc`), found and
// understood as Terraform 1.11 does (tried); see
// https://developer.hashicorp.com/terraform/cli/config/config-file. The package
// acts on none of it: it opens no connection and installs nothing.
//
// Start at [Load].
package cliconfig
