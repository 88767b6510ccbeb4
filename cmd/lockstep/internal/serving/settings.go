package serving

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/metrics/otlp"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/github"
)

// serveOptions are the options of serve, as on the command line.
type serveOptions struct {
	data, addr, url           string
	appID, appKey, secret     string
	githubURL, token, plugins string
	serves, deployment, apps  string

	stateRole, stateExternalID, own, release string
	functions, webhookKeys, topics           string
	hookPrograms, collector                  string
	files                                    string
	memory, disk, cpu, wall                  string
}

func (o *serveOptions) flags(f *cli.Flags) {
	f.StringVar(&o.appID, "app-id", "", "ID of the GitHub App")
	f.StringVar(&o.appKey, "app-key", "", "file with a private key of the App (.pem), as downloaded from GitHub")
	f.StringVar(&o.secret, "webhook-secret", "", "file with the secret of the App's webhook")
	f.StringVar(&o.githubURL, "github-url", github.DefaultURL, "address of GitHub's API; for an Enterprise Server https://HOST/api/v3/")
	f.StringVar(&o.serves, "serves", "", "owners and repositories to serve, such as acme/infra,acme/team-*")
	f.StringVar(&o.apps, "apps", "", "JSON file with further Apps, of other organizations or servers")
	f.StringVar(&o.deployment, "deployment", "", "name of this deployment, if several serve one repository")
	f.StringVar(&o.data, "data", "lockstep-data", "data directory with plans and states; back it up")
	f.StringVar(&o.addr, "addr", "127.0.0.1:8080", "address to listen on, HOST:PORT")
	f.StringVar(&o.url, "url", "", "public address of the page, if it is behind a proxy")
	f.StringVar(&o.token, "page-token", "", "file with the token for the page (default: page-token in the data directory, made at the first start)")
	f.StringVar(&o.stateRole, "state-role", "", "ARN of a role for states in S3; each run gets a session for its own state")
	f.StringVar(&o.stateExternalID, "state-external-id", "", "external ID that the role of -state-role requires")
	f.StringVar(&o.own, "states", "", "addresses that new states of a repository may have: s3://BUCKET/{owner}/{name}/**")
	f.StringVar(&o.release, "release", "", "let another repository use the state at s3://BUCKET/KEY, and exit")
	f.StringVar(&o.functions, "functions", "", "Lambda functions that gates and hooks may call: ARNs with *, separated by commas")
	f.StringVar(&o.webhookKeys, "webhook-keys", "", "secrets that webhooks and Slack notifications may use: ARNs with *, separated by commas")
	f.StringVar(&o.topics, "topics", "", "SNS topics that notifications may use: ARNs with *, separated by commas")
	f.StringVar(&o.hookPrograms, "hook-programs", "", "directory with the programs that hooks and notifications may run")
	f.StringVar(&o.collector, "collector", "", "file with a collector of OpenTelemetry: its address, and headers on further lines")
	o.runFlags(f)
	f.StringVar(&o.plugins, "plugin-env", "", "file with the environment of providers, one NAME=value a line")
}

// runFlags adds the options with the limits of one run.
func (o *serveOptions) runFlags(f *cli.Flags) {
	f.StringVar(&o.files, "plugin-files", "", "further files and directories that providers may read, separated by commas")
	f.StringVar(&o.memory, "run-memory", "2048", "memory of one plan or apply with all its processes, in MiB")
	f.StringVar(&o.disk, "run-disk", "4096", "data that one run may write, in MiB")
	f.StringVar(&o.cpu, "run-cpu", "30m", "processor time of one run")
	f.StringVar(&o.wall, "run-time", "2h", "duration of a plan")
}

// limits parses the options that limit the memory and time of one run.
func (o *serveOptions) limits(s *serveSettings) error {
	s.limits = confine.Limits{Processes: 512, Files: 4096}
	for name, x := range map[string]struct {
		text string
		to   *int64
	}{"-run-memory": {o.memory, &s.limits.Memory}, "-run-disk": {o.disk, &s.limits.Disk}} {
		n, err := strconv.ParseInt(x.text, 10, 32)
		if err != nil || n < leastRun {
			return cli.Hinted(fmt.Errorf("%s is %q", name, x.text), "give a number of MiB, at least %d, such as 2048", leastRun)
		}
		*x.to = n << 20
	}
	for name, x := range map[string]struct {
		text string
		to   *time.Duration
	}{"-run-cpu": {o.cpu, &s.limits.CPU}, "-run-time": {o.wall, &s.limits.Wall}} {
		d, err := time.ParseDuration(x.text)
		if err != nil || d < 4*time.Second {
			return cli.Hinted(fmt.Errorf("%s is %q", name, x.text), "give a duration, such as 30m or 2h")
		}
		*x.to = d
	}
	return nil
}

// leastRun is the minimum of memory for a run, in MiB.
const leastRun = 128

// environment sets options that the command line does not have from environment variables.
func (o *serveOptions) environment(a *cli.App, f *cli.Flags) {
	given := map[string]bool{}
	f.Visit(func(x *flag.Flag) { given[x.Name] = true })
	f.VisitAll(func(x *flag.Flag) {
		name := "LOCKSTEP_" + strings.ToUpper(strings.ReplaceAll(x.Name, "-", "_"))
		if v := a.Getenv(name); v != "" && !given[x.Name] && x.Name != "no-color" {
			x.Value.Set(v) // all of them take any text
		}
	})
}

// settings parses the options, and reads the files that they name.
func (o *serveOptions) settings(a *cli.App, f *cli.Flags) (*serveSettings, error) {
	o.environment(a, f)
	s := &serveSettings{data: a.Path(o.data), addr: o.addr, url: strings.TrimSuffix(o.url, "/")}
	if file := a.Getenv("TF_CLI_CONFIG_FILE"); file != "" {
		s.cliConfig = a.Path(file)
	}
	if err := o.github(a, s); err != nil {
		return nil, err
	}
	if err := o.page(a, s); err != nil {
		return nil, err
	}
	if err := o.states(a, s); err != nil {
		return nil, err
	}
	if err := o.calls(a, s); err != nil {
		return nil, err
	}
	var err error
	if s.serves, err = intake.ParseServes(o.serves); err != nil {
		return nil, cli.Hinted(fmt.Errorf("-serves: %w", err), "name owners and repositories, separated by commas: acme, acme/infra, acme/team-*")
	}
	if err := environments.CheckDeployment(o.deployment); err != nil {
		return nil, fmt.Errorf("-deployment: %w", err)
	}
	s.deployment = o.deployment
	if err := o.further(a, s); err != nil {
		return nil, err
	}
	if err := o.limits(s); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(o.files, ",") {
		if name = strings.TrimSpace(name); name != "" {
			s.show = append(s.show, a.Path(name))
		}
	}
	if s.pluginEnv, err = o.pluginEnv(a); err != nil {
		return nil, err
	}
	if o.collector != "" {
		text, err := readFile(a, "collector", o.collector)
		if err != nil {
			return nil, err
		}
		if s.collector, err = otlp.Parse(text); err != nil {
			return nil, cli.Hinted(fmt.Errorf("-collector: %s: %w", o.collector, err), "write the address in the first line, and one header in each further line: Authorization: Bearer TOKEN")
		}
		s.secrets = append(s.secrets, s.collector.Secrets()...)
	}
	return s, nil
}

// pluginEnv reads the environment variables for plugins from a file with one variable on each line. Without a
// file it returns an empty list, not nil: nil would mean Lockstep's own environment.
func (o *serveOptions) pluginEnv(a *cli.App) ([]string, error) {
	env := []string{}
	if o.plugins == "" {
		return env, nil
	}
	text, err := readFile(a, "plugin-env", o.plugins)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, _, ok := strings.Cut(line, "="); !ok || name == "" {
			// The error message must not contain the line, because the line may be a secret.
			return nil, cli.Hinted(fmt.Errorf("%s has a line that is not NAME=value", o.plugins), "write one variable on each line, without quotes: AWS_REGION=eu-central-1")
		}
		env = append(env, line)
	}
	return env, nil
}

// github parses the options about the App and GitHub's address.
func (o *serveOptions) github(a *cli.App, s *serveSettings) error {
	if o.appID == "" || o.appKey == "" || o.secret == "" {
		return cli.Hinted(errors.New("serve needs -app-id, -app-key and -webhook-secret"),
			"register a GitHub App at https://github.com/settings/apps/new with the permissions that `lockstep serve -help` lists. To try Lockstep without an App, run `lockstep demo`")
	}
	id, err := strconv.ParseInt(o.appID, 10, 64)
	if err != nil || id <= 0 {
		return cli.Hinted(fmt.Errorf("-app-id is %q, which is not a number", o.appID), "copy the number after \"App ID\" in the App's settings on GitHub")
	}
	key, err := readFile(a, "app-key", o.appKey)
	if err != nil {
		return err
	}
	if s.app, err = github.NewApp(github.AppConfig{ID: id, Key: github.NewSecret(key), URL: o.githubURL}); err != nil {
		return cli.Hinted(err, "give -app-key the .pem file that you downloaded from the App's settings on GitHub, and -github-url an https address")
	}
	secret, err := readFile(a, "webhook-secret", o.secret)
	if err != nil {
		return err
	}
	s.secret = github.NewSecret(secret)
	s.secrets = append(s.secrets, key, secret)
	s.web = github.WebURL(o.githubURL)
	return nil
}

// page parses the options of the page: its address and its token.
func (o *serveOptions) page(a *cli.App, s *serveSettings) error {
	if s.url != "" {
		u, err := url.Parse(s.url)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" {
			return cli.Hinted(fmt.Errorf("-url is %q, which is not the address of a server", o.url), "write the scheme and the host, without a path: -url https://lockstep.example.com")
		}
		s.access.Hosts, s.access.Secure = []string{strings.ToLower(u.Host)}, u.Scheme == "https"
	}
	if o.token == "" {
		o.token = filepath.Join(s.data, pageToken)
		if err := makeToken(a.Path(o.token)); err != nil {
			return cli.Hinted(fmt.Errorf("the data directory cannot be opened: %w", err), "name a directory that this user can write to: -data DIR")
		}
	}
	s.tokenFile = o.token
	token, err := readFile(a, "page-token", o.token)
	if err != nil {
		return err
	}
	if len(token) < page.ShortestToken {
		return cli.Hinted(fmt.Errorf("the token in %s is too short: it has %d characters", o.token, len(token)), "write a random token of at least %d characters into the file: openssl rand -hex 32", page.ShortestToken)
	}
	s.access.Token, s.secrets = token, append(s.secrets, token)
	return nil
}

// pageToken is the name of the file with the token for the pages. It is in the data directory, unless an option
// names another file.
const pageToken = "page-token"

// makeToken creates a file with a random token. Only the owner of the file can read it. makeToken does
// nothing if the file exists.
func makeToken(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(rand.Text() + rand.Text() + "\n")
	return errors.Join(err, f.Close())
}

// readFile returns the content of the file name, without white space at both ends. option is the option that
// names the file, for errors.
func readFile(a *cli.App, option, name string) (string, error) {
	data, err := os.ReadFile(a.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", cli.Hinted(fmt.Errorf("the file %[2]s of -%[1]s does not exist", option, name), "give the option the name of a file, not its content")
	}
	if err != nil {
		return "", fmt.Errorf("-%s: %s", option, cli.Reason(err))
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", fmt.Errorf("the file %[2]s of -%[1]s is empty", option, name)
	}
	return text, nil
}
