// Package cliconfig reads the CLI configuration: the settings of a person or machine for all working
// directories. They are the credentials for hosts, the installation methods for providers, the plugin cache
// and the development overrides. They come from files and from the corresponding environment variables.
//
// The files are Terraform's (`~/.terraformrc`, `~/.terraform.d/*.tfrc`), and are read as Terraform 1.11 does
// (tried); see https://developer.hashicorp.com/terraform/cli/config/config-file. The package only reads: it
// opens no connection and installs nothing.
//
// Start at [Load].
package cliconfig
