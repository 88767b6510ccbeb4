package signin

import (
	"crypto/hmac"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github"
)

// LinkLife is how long a signed link is valid.
const LinkLife = 15 * time.Minute

// clockDrift is how far the clock of the machine that makes a link may be ahead of this machine's
// clock.
const clockDrift = time.Minute

var namePattern = lazyregexp.New(`^[A-Za-z0-9_.-]{1,100}$`)

// check returns an error if the scope is not one repository or pull request.
func (s Scope) check() error {
	for _, name := range []string{s.Owner, s.Name} {
		if !namePattern.MatchString(name) || strings.Trim(name, ".") == "" {
			return fmt.Errorf("%q is not the name of a repository", s.Owner+"/"+s.Name)
		}
	}
	if s.Pull < 0 {
		return fmt.Errorf("%d is not the number of a pull request", s.Pull)
	}
	return nil
}

// Link returns a signed link that is valid for [LinkLife]. address is the address of the page, without a slash at the
// end, and key is the key of the deployment.
func Link(key github.Secret, address string, s Scope) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	k, err := newKeys(key)
	if err != nil {
		return "", err
	}
	end := time.Now().Add(LinkLife).Unix()
	q := url.Values{"owner": {s.Owner}, "name": {s.Name}, "end": {strconv.FormatInt(end, 10)}, "signature": {k.sign(s, end)}}
	if s.Pull > 0 {
		q.Set("pull", strconv.Itoa(s.Pull))
	}
	return address + linkPath + "?" + q.Encode(), nil
}

// link begins a session with a signed link.
func (d *Door) link(w http.ResponseWriter, r *http.Request) *page.Refusal {
	q := r.URL.Query()
	s := Scope{Owner: q.Get("owner"), Name: q.Get("name")}
	var err error
	if text := q.Get("pull"); text != "" {
		s.Pull, err = strconv.Atoi(text)
	}
	end, e := strconv.ParseInt(q.Get("end"), 10, 64)
	left := time.Until(time.Unix(end, 0))
	if err != nil || e != nil || s.check() != nil || !hmac.Equal([]byte(q.Get("signature")), []byte(d.keys.sign(s, end))) || left <= 0 || left > LinkLife+clockDrift {
		return d.signInForm(nil, "This link is not valid, or older than 15 minutes. Ask for a new one.")
	}
	setCookie(w, sessionCookie, d.keys.seal(sessionPurpose, session{Link: &s, End: end}), left)
	http.Redirect(w, r, s.path(), http.StatusSeeOther)
	return nil
}
