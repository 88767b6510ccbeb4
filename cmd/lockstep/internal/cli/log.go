package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/lockstep-iac/lockstep/engine/language"
)

// logs are the log file and the log levels that environment variables set:
//   - TF_LOG is the level for Lockstep and its providers.
//   - TF_LOG_CORE and TF_LOG_PROVIDER are the levels for one of these two.
//   - TF_LOG_PATH is the log file.
//
// Source: https://developer.hashicorp.com/terraform/internals/debugging
type logs struct {
	To       io.Writer
	core     string // a level, "JSON", or "" for none
	Provider string
}

var logLevels = []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"}

// openLogs reads the environment variables about logs, such as TF_LOG and TF_LOG_PATH. It reports a mistake
// in them, but the command continues.
func (a *App) openLogs() logs {
	all := a.logLevel("TF_LOG")
	l := logs{core: all, Provider: all}
	if all == "" {
		l.core = a.logLevel("TF_LOG_CORE")
	}
	if own := a.logLevel("TF_LOG_PROVIDER"); own != "" {
		l.Provider = own
	}
	if l.core+l.Provider == "" {
		return l
	}
	l.To = a.Err
	if path := a.Getenv("TF_LOG_PATH"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintf(a.Err, "lockstep: note: TF_LOG_PATH: %s\n", err)
			return l
		}
		l.To = f
	}
	return l
}

// logLevel returns the log level in an environment variable; "" if it is not set. As in Terraform, an unknown
// word means TRACE.
func (a *App) logLevel(name string) string {
	level := strings.ToUpper(a.Getenv(name))
	if level == "" || level == "JSON" || slices.Contains(logLevels, level) {
		return level
	}
	fmt.Fprintf(a.Err, "[WARN] Invalid log level: %q. Defaulting to level: TRACE. Valid levels are: %v\n", level, logLevels)
	return "TRACE"
}

// begin writes the versions and the arguments to the log. All other lines in the log come from plugins. begin
// leaves out the values of options, because they may be secrets.
func (l logs) begin(spoken language.Version, version string, args []string) {
	if l.core == "" {
		return
	}
	level := hclog.LevelFromString(l.core)
	if l.core == "JSON" {
		level = hclog.Trace
	}
	log := hclog.New(&hclog.LoggerOptions{Level: level, Output: l.To, JSONFormat: l.core == "JSON"})
	shown := []string{"lockstep"}
	for _, arg := range args {
		if name, _, ok := strings.Cut(arg, "="); ok {
			arg = name + "=..."
		}
		shown = append(shown, arg)
	}
	log.Info("Terraform version: " + spoken.Release())
	log.Info("Lockstep version: " + version)
	log.Info("Go runtime version: " + runtime.Version())
	log.Info(fmt.Sprintf("CLI args: %#v", shown))
}
