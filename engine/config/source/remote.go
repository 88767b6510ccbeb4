package source

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// parseRemote returns the address of a package to fetch in its normal form, as go-getter
// (https://github.com/hashicorp/go-getter) has it: GETTER::URL or a URL. It makes no request: Bitbucket has
// had only git repositories since 2020.
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
	// For a short form like github.com/OWNER/NAME/DIRECTORY, complete has put "//DIRECTORY" into the URL: split
	// it off.
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

// complete returns text as a URL. Text may be a short form: github.com/OWNER/NAME, git@HOST:PATH, or an
// absolute path, for example.
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
			return "", fmt.Errorf("the short form of an address for git has the user git: write %s", Redact(fmt.Sprintf("git::ssh://%s@%s/%s", m[1], m[2], m[3])))
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

// scpForm matches USER@HOST:PATH, the form of ssh's tools.
var scpForm = regexp.MustCompile(`^([^@/:]+)@([^:/]+):/?(.+)$`)

// repository returns the URL for HOST/OWNER/NAME, perhaps with a directory after it.
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

// bucket returns the URL for an object in S3. The address has a host of Amazon's and the key, in one of the
// three styles that S3 has or had.
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

// getterName matches an address with a getter's name before "::", such as `git::https://...`.
var getterName = regexp.MustCompile(`^([A-Za-z0-9]+)::(.+)$`)

func cutGetter(text string) (getter, rest string) {
	if m := getterName.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

// split splits an address at "//" into package and directory. A query stays with the package.
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

// cleanSubdir returns dir in its clean form, or an error if dir is outside of its package.
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

// secretParameters are the query parameters that give access: secrets for go-getter's getters, tokens for
// archive servers, and signatures of addresses.
var secretParameters = []string{
	"sshkey", "aws_access_key_id", "aws_access_key_secret", "aws_access_token",
	"token", "access_token", "private_token", "sig", "x-amz-signature", "x-amz-security-token", "x-goog-signature",
}

func isSecret(parameter string) bool {
	return slices.ContainsFunc(secretParameters, func(s string) bool { return strings.EqualFold(parameter, s) })
}

// shortestToken is the shortest user name that is hidden as a secret in the messages of other programs. A
// shorter one may be an ordinary word.
const shortestToken = 16

// userinfo returns the offsets of USER:PASSWORD in an address, before the host's @; 0 and 0 if there is none.
func userinfo(address string) (from, to int) {
	i := strings.Index(address, "://")
	if i < 0 {
		return 0, 0
	}
	from = i + len("://")
	authority, _, _ := strings.Cut(address[from:], "/")
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		return from, from + at
	}
	return 0, 0
}

// isToken reports whether the user in an address is a token. The user is a token if the scheme is http or
// https and there is no password, or if the password is the one that GitHub uses with tokens.
// Source: https://git-scm.com/docs/git-credential,
// https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api
func isToken(scheme, user, password string) bool {
	scheme = strings.ToLower(scheme)
	web := strings.HasSuffix(scheme, "http://") || strings.HasSuffix(scheme, "https://")
	return web && user != "" && user != "git" && (password == "" || password == "x-oauth-basic")
}

// Redact returns an address for messages, without passwords, tokens and query parameters that give access.
func Redact(text string) string {
	before, query, ok := strings.Cut(text, "?")
	if from, to := userinfo(before); to > from {
		user, password, has := strings.Cut(before[from:to], ":")
		switch {
		case isToken(before[:from], user, password):
			before = before[:from] + "REDACTED" + before[to:]
		case has:
			before = before[:from] + user + ":REDACTED" + before[to:]
		}
	}
	if !ok {
		return before
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		if name, _, _ := strings.Cut(p, "="); isSecret(name) {
			params[i] = name + "=REDACTED"
		}
	}
	return before + "?" + strings.Join(params, "&")
}

// Secrets returns the parts of an address that [Redact] hides, both as written and decoded. A caller can hide
// these parts in the messages of other programs.
func Secrets(text string) []string {
	var out []string
	add := func(s string, decode func(string) (string, error)) {
		if s != "" {
			out = append(out, s)
		}
		if meant, err := decode(s); err == nil && meant != s && meant != "" {
			out = append(out, meant)
		}
	}
	before, query, _ := strings.Cut(text, "?")
	from, to := userinfo(before)
	user, password, _ := strings.Cut(before[from:to], ":")
	switch token := isToken(before[:from], user, password); {
	case token && len(user) >= shortestToken:
		add(user, url.PathUnescape)
	case !token:
		add(password, url.PathUnescape)
	}
	for p := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(p, "="); isSecret(name) {
			add(value, url.QueryUnescape)
		}
	}
	return out
}
