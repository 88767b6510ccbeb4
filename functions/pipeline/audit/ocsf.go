package audit

import (
	"fmt"
	"strings"
)

// An OCSF is a record as an event of the Open Cybersecurity Schema Framework, version 1.3.0: class "API Activity", 6003.
// The class, its required attributes and their values: https://schema.ocsf.io/1.3.0/classes/api_activity
type OCSF struct {
	ActivityID  int            `json:"activity_id"` // 2: read, 3: update
	CategoryUID int            `json:"category_uid"`
	ClassUID    int            `json:"class_uid"`
	TypeUID     int            `json:"type_uid"` // the class times 100, plus the activity
	SeverityID  int            `json:"severity_id"`
	StatusID    int            `json:"status_id"` // 1: success, 2: failure
	Time        int64          `json:"time"`      // in milliseconds since 1970
	Message     string         `json:"message"`
	Metadata    ocsfMetadata   `json:"metadata"`
	Actor       ocsfActor      `json:"actor"`
	API         ocsfAPI        `json:"api"`
	Source      ocsfEndpoint   `json:"src_endpoint"`
	Resources   []ocsfResource `json:"resources"`
	Unmapped    Record         `json:"unmapped"` // the whole record
}

type ocsfMetadata struct {
	Version string      `json:"version"` // of the schema
	Product ocsfProduct `json:"product"`
	UID     string      `json:"uid"` // the chain and the number of the record
}

type ocsfProduct struct {
	Name   string `json:"name"`
	Vendor string `json:"vendor_name"`
}

type ocsfActor struct {
	User ocsfUser `json:"user"`
}

type ocsfUser struct {
	Name string `json:"name"`
}

type ocsfAPI struct {
	Operation string      `json:"operation"`
	Service   ocsfService `json:"service"`
}

type ocsfService struct {
	Name string `json:"name"`
}

type ocsfEndpoint struct {
	Name string `json:"name"`
}

type ocsfResource struct {
	UID  string `json:"uid"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// ToOCSF returns a record as an event.
func ToOCSF(r Record) OCSF {
	const class, readOnly, updates = 6003, 2, 3
	e := OCSF{
		ActivityID: updates, CategoryUID: class / 1000, ClassUID: class, SeverityID: 1, StatusID: 1, Time: r.At.UnixMilli(), Message: r.Line(),
		Metadata: ocsfMetadata{Version: "1.3.0", Product: ocsfProduct{"Lockstep", "Lockstep"}, UID: fmt.Sprintf("%s/%d", r.Chain, r.N)},
		Actor:    ocsfActor{ocsfUser{orNone(r.By)}}, API: ocsfAPI{string(r.Event), ocsfService{"lockstep"}},
		Source:    ocsfEndpoint{fmt.Sprintf("%s#%d", r.Repo, r.Pull)}, // every command comes from a pull request
		Resources: []ocsfResource{{r.Chain, r.Project, "state"}},
		Unmapped:  r,
	}
	if r.Event == ApplyRefused {
		e.ActivityID = readOnly
	}
	if r.Event == ApplyRefused || r.Failed {
		e.StatusID, e.SeverityID = 2, 2
	}
	e.TypeUID = class*100 + e.ActivityID
	return e
}

// Line returns a sentence about the record.
func (r Record) Line() string {
	who := r.By
	if who == "" {
		who = "Lockstep"
	}
	subject := fmt.Sprintf("%s of %s#%d", r.Project, r.Repo, r.Pull)
	switch r.Event {
	case ApplyAllowed:
		return fmt.Sprintf("%s may apply plan %.12s to %s%s", who, r.Plan, subject, approvedBy(r.Approved))
	case ApplyEnded:
		how := "complete"
		if r.Failed || r.Remaining > 0 {
			how = fmt.Sprintf("not complete, %d left", r.Remaining)
		}
		return fmt.Sprintf("apply of plan %.12s to %s ended, %s: %d added, %d changed, %d destroyed", r.Plan, subject, how, r.Counts.Add, r.Counts.Change, r.Counts.Destroy)
	case ApplyRefused:
		return fmt.Sprintf("%s may not apply plan %.12s to %s", who, r.Plan, subject)
	case RecoverAllowed:
		return fmt.Sprintf("%s may recover the state of %s", who, subject)
	case LockAllowed:
		return fmt.Sprintf("%s may lock the state of %s%s", who, subject, because(r.Reasons))
	case UnlockAllowed:
		return fmt.Sprintf("%s may unlock the state of %s", who, subject)
	case OverrideAllowed:
		return fmt.Sprintf("%s overrides requirements for plan %.12s of %s%s", who, r.Plan, subject, because(r.Reasons))
	}
	return string(r.Event)
}

func approvedBy(logins []string) string {
	if len(logins) == 0 {
		return ""
	}
	return fmt.Sprintf(", approved by %s", strings.Join(logins, ", "))
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(": %q", reason)
}
