// Package toolresults reads the output of programs such as tflint, trivy, conftest and infracost: SARIF 2.1.0,
// JUnit's XML and infracost's JSON. Any other output is text.
//
// The output is hostile. A pull request chooses names of files, messages and numbers in it, and sometimes the whole
// output. Each list has a limit. What a list leaves out is counted. The memory is in proportion to the output, whose
// size has a limit, too ([MaxBytes]).
//
// Secrets are removed here, by [Options.Redact], and nowhere else can that be done safely. Before, a secret can hide
// behind escapes of JSON, entities of XML, percent signs of a URI, or between a message and its arguments. After, texts
// are cut, and half of a secret is no longer found. So each text is decoded, then redacted, then cut.
//
// The package does not know pull requests, comments, or how a program is run. It reads no files: [Options.Files] does.
// Start reading at [Read].
//
// Sources: https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html,
// https://github.com/testmoapp/junitxml, https://www.infracost.io/docs/features/cli_commands/
package toolresults
