package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/lockstep-iac/lockstep/engine"
)

// logs are where the environment wants logs, and how detailed: TF_LOG, with TF_LOG_CORE and
// TF_LOG_PROVIDER for the two halves, and TF_LOG_PATH.
//
// Source: https://developer.hashicorp.com/terraform/internals/debugging
type logs struct {
	to       io.Writer
	core     string // a level, "JSON", or "" for none
	provider string
}

var logLevels = []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"}

// openLogs reads the environment. What is wrong with it is no error: logs are only looked at.
func (a *app) openLogs() logs {
	all := a.logLevel("TF_LOG")
	l := logs{core: all, provider: all}
	if all == "" {
		l.core = a.logLevel("TF_LOG_CORE")
	}
	if own := a.logLevel("TF_LOG_PROVIDER"); own != "" {
		l.provider = own
	}
	if l.core+l.provider == "" {
		return l
	}
	l.to = a.err
	if path := a.getenv("TF_LOG_PATH"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintf(a.err, "lockstep: note: TF_LOG_PATH: %s\n", err)
			return l
		}
		l.to = f
	}
	return l
}

// logLevel returns what a variable asks for. A word that is no level means all there is.
func (a *app) logLevel(name string) string {
	level := strings.ToUpper(a.getenv(name))
	if level == "" || level == "JSON" || slices.Contains(logLevels, level) {
		return level
	}
	fmt.Fprintf(a.err, "[WARN] Invalid log level: %q. Defaulting to level: TRACE. Valid levels are: %v\n", level, logLevels)
	return "TRACE"
}

// begin logs who runs, which is all that is logged besides the plugins. Values among the arguments
// may be secrets: they are left out.
func (l logs) begin(args []string) {
	if l.core == "" {
		return
	}
	level := hclog.LevelFromString(l.core)
	if l.core == "JSON" {
		level = hclog.Trace
	}
	log := hclog.New(&hclog.LoggerOptions{Level: level, Output: l.to, JSONFormat: l.core == "JSON"})
	shown := []string{"lockstep"}
	for _, arg := range args {
		if name, _, ok := strings.Cut(arg, "="); ok {
			arg = name + "=..."
		}
		shown = append(shown, arg)
	}
	log.Info("Terraform version: " + engine.LanguageVersion)
	log.Info("Lockstep version: " + version)
	log.Info("Go runtime version: " + runtime.Version())
	log.Info(fmt.Sprintf("CLI args: %#v", shown))
}
