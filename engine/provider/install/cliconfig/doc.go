// Package cliconfig reads the CLI configuration: a person's or machine's settings for all
// working directories. They are the credentials for hosts, the installation methods for
// providers, the plugin cache and the development overrides, from files and from the
// corresponding environment variables.
//
// The files are Terraform's (`~/.terraformrc`, `~/.terraform.d/*.tfrc`), found and
// understood as Terraform 1.11 does (tried); see
// https://developer.hashicorp.com/terraform/cli/config/config-file. The package
// acts on none of it: it opens no connection and installs nothing.
//
// Start at [Load].
package cliconfig
