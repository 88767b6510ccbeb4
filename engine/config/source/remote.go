package source

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// parseRemote brings the address of something to fetch into its normal form: that
// which go-getter (https://github.com/hashicorp/go-getter) makes of it, GETTER::URL or
// a URL. No server is asked: Bitbucket has git repositories only, since 2020.
func parseRemote(a Address) (Address, error) {
	getter, rest := cutGetter(a.Text)
	rest, subdir := split(rest)
	full, err := complete(rest)
	if err != nil {
		return a, err
	}
	if g, u := cutGetter(full); g != "" {
		full = u
		if getter == "" {
			getter = g
		}
	}
	// What a short form has behind the repository is in the package, too.
	full, inner := split(full)
	if a.Subdir, err = cleanSubdir(path.Join(inner, subdir)); err != nil {
		return a, err
	}
	u, err := url.Parse(full)
	if err != nil || u.Scheme == "" {
		return a, fmt.Errorf("%q has no URL that could be understood: write something like https://example.com/module.zip or git::https://example.com/module.git", Redact(a.Text))
	}
	if getter == "" && u.Scheme == "ssh" {
		getter = "git" // nothing else is fetched by ssh
	}
	if getter != "" {
		full = getter + "::" + full
	}
	a.Package = full
	return a, nil
}

// complete returns the URL that a short form stands for.
func complete(text string) (string, error) {
	switch host, rest, _ := strings.Cut(text, "/"); {
	case strings.Contains(text, "://"):
		return text, nil
	case strings.HasPrefix(text, "/"):
		return "file://" + text, nil
	case slices.Contains(gitHosts, host):
		return repository(host, rest)
	case strings.HasSuffix(host, ".amazonaws.com"):
		return bucket(host, rest)
	}
	if m := scpForm.FindStringSubmatch(text); m != nil {
		if m[1] != "git" {
			return "", fmt.Errorf("the short form of an address for git has the user git: write git::ssh://%s@%s/%s", m[1], m[2], m[3])
		}
		p, query, ok := strings.Cut(m[3], "?")
		u := url.URL{Scheme: "ssh", User: url.User(m[1]), Host: m[2], Path: "/" + p}
		if ok {
			u.RawQuery = query
		}
		return "git::" + u.String(), nil
	}
	return text, nil
}

// scpForm is user@host:path, as ssh's tools write it.
var scpForm = regexp.MustCompile(`^([^@/:]+)@([^:/]+):/?(.+)$`)

// repository completes HOST/OWNER/NAME, with a directory behind it.
func repository(host, rest string) (string, error) {
	rest, query, ok := strings.Cut(rest, "?")
	if ok {
		query = "?" + query
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return "", fmt.Errorf("an address at %s must be %s/OWNER/REPOSITORY", host, host)
	}
	out := "git::https://" + host + "/" + parts[0] + "/" + strings.TrimSuffix(parts[1], ".git") + ".git"
	if len(parts) == 3 {
		out += "//" + parts[2]
	}
	return out + query, nil
}

// bucket completes the address of an object in S3: a host of Amazon's with the key,
// in one of the three styles that S3 has or had.
func bucket(host, rest string) (string, error) {
	parts := strings.Split(host, ".")
	switch {
	case len(parts) == 3:
		return "s3::https://" + host + "/" + rest, nil
	case len(parts) == 4:
		return "s3::https://" + parts[1] + ".amazonaws.com/" + parts[0] + "/" + rest, nil
	case len(parts) == 5 && parts[1] == "s3":
		return "s3::https://s3." + parts[2] + ".amazonaws.com/" + parts[0] + "/" + rest, nil
	}
	return "", fmt.Errorf("%s is not the host of a bucket: write s3::https://s3-REGION.amazonaws.com/BUCKET/KEY", host)
}

// getterName matches the name before "::".
var getterName = regexp.MustCompile(`^([A-Za-z0-9]+)::(.+)$`)

func cutGetter(text string) (getter, rest string) {
	if m := getterName.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

// split cuts the directory behind a "//" out of an address; the query stays with the
// package.
func split(text string) (pkg, subdir string) {
	before, query, ok := strings.Cut(text, "?")
	if ok {
		query = "?" + query
	}
	from := 0
	if i := strings.Index(before, "://"); i >= 0 {
		from = i + len("://")
	}
	i := strings.Index(before[from:], "//")
	if i < 0 {
		return text, ""
	}
	return before[:from+i] + query, strings.TrimPrefix(before[from+i:], "//")
}

// cleanSubdir refuses directories that lead out of their package.
func cleanSubdir(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	out := path.Clean(strings.Trim(strings.ReplaceAll(dir, `\`, "/"), "/"))
	switch {
	case out == ".." || strings.HasPrefix(out, "../"):
		return "", fmt.Errorf("the directory %q leads out of the module's package", dir)
	case out == ".":
		return "", nil
	}
	return out, nil
}

// secretParameters are the parameters of addresses that give access. The sources of
// the names are the getters of go-getter.
var secretParameters = []string{"sshkey", "aws_access_key_id", "aws_access_key_secret", "aws_access_token"}

// Redact returns an address for messages: without passwords, and without the
// parameters that give access.
func Redact(text string) string {
	before, query, ok := strings.Cut(text, "?")
	if i := strings.Index(before, "://"); i >= 0 {
		authority, rest, slash := strings.Cut(before[i+3:], "/")
		if at := strings.LastIndex(authority, "@"); at >= 0 {
			if user, _, has := strings.Cut(authority[:at], ":"); has {
				authority = user + ":REDACTED" + authority[at:]
			}
		}
		before = before[:i+3] + authority
		if slash {
			before += "/" + rest
		}
	}
	if !ok {
		return before
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		name, _, _ := strings.Cut(p, "=")
		for _, s := range secretParameters {
			if strings.EqualFold(name, s) {
				params[i] = name + "=REDACTED"
			}
		}
	}
	return before + "?" + strings.Join(params, "&")
}

// Secrets returns the parts of an address that [Redact] hides, for hiding them in what
// others say.
func Secrets(text string) []string {
	var out []string
	before, query, _ := strings.Cut(text, "?")
	if _, rest, ok := strings.Cut(before, "://"); ok {
		authority, _, _ := strings.Cut(rest, "/")
		if at := strings.LastIndex(authority, "@"); at >= 0 {
			if _, password, has := strings.Cut(authority[:at], ":"); has && password != "" {
				out = append(out, password)
			}
		}
	}
	for p := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(p, "=")
		for _, s := range secretParameters {
			if strings.EqualFold(name, s) && value != "" {
				out = append(out, value)
			}
		}
	}
	return out
}
