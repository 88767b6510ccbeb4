package cliconfig

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// Surroundings say where the configuration is.
type Surroundings struct {
	Environ []string // `NAME=value`, as os.Environ returns
	Home    string   // the person's home directory, "" if there is none
}

// getenv returns a variable's value; "" if it is not set. If a variable is set several times, the last one
// counts, as in os/exec.
func (s Surroundings) getenv(name string) string {
	for _, entry := range slices.Backward(s.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Load reads the CLI configuration. It reads the file TF_CLI_CONFIG_FILE, or otherwise ~/.terraformrc and
// ~/.terraform.d/*.tfrc. It also reads the environment variables TF_PLUGIN_CACHE_DIR,
// TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE and TF_TOKEN_HOST, which have precedence over the files.
//
// The configuration is never nil. As in Terraform, a caller may continue after errors: only the settings with
// errors are missing.
func Load(s Surroundings) (*Config, diags.Diagnostics) {
	c := &Config{
		Overrides:   map[addrs.Provider]string{},
		ImpliedDirs: impliedDirs(s),
		services:    map[string]map[string]any{},
		tokens:      map[string]hosts.Token{},
		origins:     map[string]Origin{},
	}
	l := &loader{config: c, surroundings: s}
	// `terraform login` writes this file. It is used even if TF_CLI_CONFIG_FILE names another file.
	if s.Home != "" {
		c.CredentialsFile = filepath.Join(s.Home, dotDir(), "credentials.tfrc.json")
		if content, ok := l.read(c.CredentialsFile, true); ok {
			l.tokens(content.tokens, fromLogin)
		}
	}
	for _, f := range configFiles(s) {
		if content, ok := l.read(f.path, f.optional); ok {
			l.merge(content)
		}
	}
	l.environment()
	return c, l.ds
}

// A configFile is a file that may exist. If it is not optional, the user has named it and it must exist.
type configFile struct {
	path     string
	optional bool
}

func configFiles(s Surroundings) (files []configFile) {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if path := s.getenv(name); path != "" {
			return []configFile{{path, false}}
		}
	}
	if runtime.GOOS == "windows" {
		if dir := s.getenv("APPDATA"); dir != "" {
			files = append(files, configFile{filepath.Join(dir, "terraform.rc"), true})
		}
	}
	if s.Home == "" {
		return files
	}
	if runtime.GOOS != "windows" {
		files = append(files, configFile{filepath.Join(s.Home, ".terraformrc"), true})
	}
	dir := filepath.Join(s.Home, dotDir())
	entries, _ := os.ReadDir(dir) // a missing directory has none
	for _, e := range entries {
		name := e.Name()
		hidden := strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#")
		if !hidden && (strings.HasSuffix(name, ".tfrc") || strings.HasSuffix(name, ".tfrc.json")) {
			files = append(files, configFile{filepath.Join(dir, name), true})
		}
	}
	return files
}

func dotDir() string {
	if runtime.GOOS == "windows" {
		return filepath.Join("AppData", "Roaming", "terraform.d")
	}
	return ".terraform.d"
}

// impliedDirs lists the local mirror directories that apply without a
// provider_installation block; see
// https://developer.hashicorp.com/terraform/cli/config/config-file#implied-local-mirror-directories.
func impliedDirs(s Surroundings) []string {
	dirs := []string{filepath.Join("terraform.d", "plugins")}
	if s.Home != "" {
		dirs = append(dirs, filepath.Join(s.Home, dotDir(), "plugins"))
	}
	switch runtime.GOOS {
	case "windows":
	case "darwin":
		library := filepath.Join("Library", "Application Support", "io.terraform", "plugins")
		if s.Home != "" {
			dirs = append(dirs, filepath.Join(s.Home, library))
		}
		dirs = append(dirs, filepath.Join("/", library))
	default:
		data := s.getenv("XDG_DATA_HOME")
		if !filepath.IsAbs(data) && s.Home != "" {
			data = filepath.Join(s.Home, ".local", "share")
		}
		shared := s.getenv("XDG_DATA_DIRS")
		if shared == "" {
			shared = "/usr/local/share:/usr/share"
		}
		for _, dir := range append([]string{data}, filepath.SplitList(shared)...) {
			if filepath.IsAbs(dir) { // the XDG specification ignores relative ones
				dirs = append(dirs, filepath.Join(dir, "terraform", "plugins"))
			}
		}
	}
	return dirs
}

type loader struct {
	config       *Config
	surroundings Surroundings
	ds           diags.Diagnostics
}

func (l *loader) read(path string, optional bool) (fileContent, bool) {
	src, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && optional:
		return fileContent{}, false
	case errors.Is(err, fs.ErrNotExist):
		l.ds = append(l.ds, diags.Warningf(nil, "Unable to open CLI configuration file",
			"There is no CLI configuration file at %q.", path)...)
		return fileContent{}, false
	case err != nil:
		l.ds = append(l.ds, diags.Errorf(nil, "Unable to read CLI configuration file", "%v.", err)...)
		return fileContent{}, false
	}
	content, ds := parse(src, path)
	l.ds = append(l.ds, ds...)
	return content, true
}

// parse reads a file of either syntax. A JSON file begins with a brace.
func parse(src []byte, name string) (fileContent, diags.Diagnostics) {
	syntax := parseHCL
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) {
		syntax = parseJSON
	}
	items, ds := syntax(src, name)
	content, cds := decode(items)
	return content, append(ds, cds...)
}

// merge adds a file's content. It overrides the content of earlier files.
func (l *loader) merge(content fileContent) {
	c := l.config
	if content.pluginCacheDir != "" {
		c.PluginCacheDir = os.Expand(content.pluginCacheDir, l.surroundings.getenv)
	}
	c.PluginCacheMayBreakLock = c.PluginCacheMayBreakLock || content.pluginCacheMayBreakLock
	c.DisableCheckpoint = c.DisableCheckpoint || content.disableCheckpoint
	maps.Copy(c.services, content.services)
	l.tokens(content.tokens, fromConfig)
	l.helpers(content.helpers)
	l.oci(content.oci)
	for _, in := range content.installations {
		if c.Explicit {
			l.ds = append(l.ds, diags.Errorf(&in.place, "More than one provider_installation block",
				"There can be only one provider_installation block in all CLI configuration files. This one is ignored.")...)
			continue
		}
		c.Explicit, c.Methods, c.Overrides = true, slices.Clip(in.methods), in.overrides
	}
}

// reason returns the cause of a file's error, without the file's name.
func reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

func (l *loader) environment() {
	c, s := l.config, l.surroundings
	if dir := s.getenv("TF_PLUGIN_CACHE_DIR"); dir != "" {
		c.PluginCacheDir = dir
	}
	if flag := s.getenv("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE"); flag != "" {
		c.PluginCacheMayBreakLock = flag != "0"
	}
	if c.PluginCacheDir != "" {
		if _, err := os.Stat(c.PluginCacheDir); err != nil {
			l.ds = append(l.ds, diags.Errorf(nil, "Plugin cache directory cannot be opened",
				"The directory %s cannot be opened (%v). Create it, or do without plugin_cache_dir and TF_PLUGIN_CACHE_DIR.", c.PluginCacheDir, reason(err))...)
			c.PluginCacheDir = ""
		}
	}
	l.tokens(Tokens(s.Environ), fromEnvironment)
}

// tokens adds tokens, which override tokens that were read earlier. If a host has a token in the credentials
// file, this file remains its origin: a login replaces the token there, even if there are tokens elsewhere.
// Source: internal/command/cliconfig of Terraform 1.11.
func (l *loader) tokens(tokens map[string]hosts.Token, from Origin) {
	maps.Copy(l.config.tokens, tokens)
	for host := range tokens {
		if l.config.origins[host] == noOrigin {
			l.config.origins[host] = from
		}
	}
}
