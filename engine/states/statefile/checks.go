package statefile

import "github.com/lockstep-iac/lockstep/engine/states"

// outputKind is the kind of outputs in the file. It is the only kind whose name differs from the name in
// [states.CheckResult].
const outputKind = "output"

func (r *reader) check() error {
	var c states.CheckResult
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "object_kind":
			if c.Kind, err = r.Text(); c.Kind == outputKind {
				c.Kind = "output_value"
			}
		case "config_addr":
			c.ConfigAddr, err = r.Text()
		case "status":
			c.Status, err = r.Text()
		case "objects":
			err = r.optional(func() error {
				return r.Array(func() error {
					o, err := r.checkObject()
					c.Objects = append(c.Objects, o)
					return err
				})
			})
		default:
			err = r.Skip()
		}
		return err
	})
	r.checks = append(r.checks, c)
	return err
}

func (r *reader) checkObject() (states.CheckObject, error) {
	var o states.CheckObject
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "object_addr":
			o.Addr, err = r.Text()
		case "status":
			o.Status, err = r.Text()
		case "failure_messages":
			err = r.optional(func() error {
				return r.Array(func() error {
					m, err := r.Text()
					o.Failures = append(o.Failures, m)
					return err
				})
			})
		default:
			err = r.Skip()
		}
		return err
	})
	return o, err
}

// checks writes the results of checks; null if there are none, as Terraform does.
func (w *writer) checks(list []states.CheckResult) {
	if len(list) == 0 {
		w.text("null")
		return
	}
	w.open('[')
	for _, c := range list {
		w.element()
		w.open('{')
		kind := c.Kind
		if kind == "output_value" {
			kind = outputKind
		}
		w.stringMember("object_kind", kind)
		w.stringMember("config_addr", c.ConfigAddr)
		w.stringMember("status", c.Status)
		w.member("objects")
		w.checkObjects(c.Objects)
		w.close('}')
	}
	w.close(']')
}

func (w *writer) checkObjects(list []states.CheckObject) {
	if len(list) == 0 {
		w.text("null")
		return
	}
	w.open('[')
	for _, o := range list {
		w.element()
		w.open('{')
		w.stringMember("object_addr", o.Addr)
		w.stringMember("status", o.Status)
		if len(o.Failures) > 0 {
			w.member("failure_messages")
			w.open('[')
			for _, m := range o.Failures {
				w.element()
				w.string(m)
			}
			w.close(']')
		}
		w.close('}')
	}
	w.close(']')
}
