package awstest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// targeted returns the call in a request of the JSON protocols 1.0 and 1.1, which name the action in a
// header.
// Source: https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
func targeted(target string, body []byte) call {
	service, name, _ := strings.Cut(target, ".")
	if service == "AmazonSQS" {
		service = "sqs"
	}
	return call{
		service: service, name: name,
		field: func(name string) string {
			var in map[string]any
			json.Unmarshal(body, &in) // what is no JSON has no fields
			text, _ := in[name].(string)
			return text
		},
		read: func(in any) error { return json.Unmarshal(body, in) },
		write: func(w http.ResponseWriter, out any) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.1")
			json.NewEncoder(w).Encode(members(reflect.ValueOf(out)))
		},
		refuse: refuseJSON,
	}
}

func refuseJSON(w http.ResponseWriter, p *problem) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(p.status)
	json.NewEncoder(w).Encode(map[string]string{"__type": p.code, "message": p.message})
}

// members turns a value of the SDK's into JSON. It leaves out fields that are not set, and writes times as
// numbers.
func members(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return members(v.Elem())
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return at.Unix()
		}
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Name != "ResultMetadata" && !v.Field(i).IsZero() {
				out[f.Name] = members(v.Field(i))
			}
		}
		return out
	case reflect.Slice:
		out := []any{}
		for i := range v.Len() {
			out = append(out, members(v.Index(i)))
		}
		return out
	}
	return v.Interface()
}

// queried returns the call in a request of the query protocol.
// Source: https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
func queried(form url.Values) call {
	service := "cloudformation"
	switch form.Get("Version") {
	case "2011-06-15":
		service = "sts"
	case "2010-05-08":
		service = "iam"
	}
	name := form.Get("Action")
	return call{
		service: service, name: name, field: form.Get,
		read: func(in any) error { return fill(reflect.ValueOf(in).Elem(), form, "") },
		write: func(w http.ResponseWriter, out any) {
			w.Header().Set("Content-Type", "text/xml")
			var text strings.Builder
			element(&text, name+"Result", reflect.ValueOf(out))
			fmt.Fprintf(w, "<%[1]sResponse>%[2]s<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></%[1]sResponse>", name, text.String())
		},
		refuse: func(w http.ResponseWriter, p *problem) {
			w.Header().Set("Content-Type", "text/xml")
			w.WriteHeader(p.status)
			fmt.Fprint(w, "<ErrorResponse><Error><Type>Sender</Type>", tagged("Code", p.code), tagged("Message", p.message), "</Error><RequestId>1</RequestId></ErrorResponse>")
		},
	}
}

// tagged returns an XML element with a text.
func tagged(name, text string) string {
	var out strings.Builder
	out.WriteString("<" + name + ">")
	xml.EscapeText(&out, []byte(text)) // a Builder takes everything
	out.WriteString("</" + name + ">")
	return out.String()
}

// element writes a value of the SDK's as XML.
func element(w *strings.Builder, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			element(w, name, v.Elem())
		}
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			w.WriteString(tagged(name, at.UTC().Format(time.RFC3339Nano)))
			return
		}
		w.WriteString("<" + name + ">")
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "ResultMetadata" && !v.Field(i).IsZero() {
				element(w, f.Name, v.Field(i))
			}
		}
		w.WriteString("</" + name + ">")
	case reflect.Slice:
		w.WriteString("<" + name + ">")
		for i := range v.Len() {
			element(w, "member", v.Index(i))
		}
		w.WriteString("</" + name + ">")
	default:
		w.WriteString(tagged(name, fmt.Sprint(v.Interface())))
	}
}

// fill reads the parameters of a form whose names begin with prefix into a value of the SDK's.
func fill(v reflect.Value, form url.Values, prefix string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !under(form, prefix) {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), form, prefix)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if err := fill(v.Field(i), form, strings.TrimPrefix(prefix+"."+f.Name, ".")); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for n := 1; under(form, fmt.Sprintf("%s.member.%d", prefix, n)); n++ {
			x := reflect.New(v.Type().Elem()).Elem()
			if err := fill(x, form, fmt.Sprintf("%s.member.%d", prefix, n)); err != nil {
				return err
			}
			v.Set(reflect.Append(v, x))
		}
	case reflect.String:
		v.SetString(form.Get(prefix))
	case reflect.Bool:
		yes, err := strconv.ParseBool(form.Get(prefix))
		v.SetBool(yes)
		return err
	case reflect.Int32:
		n, err := strconv.ParseInt(form.Get(prefix), 10, 32)
		v.SetInt(n)
		return err
	}
	return nil
}

// under reports whether a form has the parameter at, or one whose name begins with at and a dot.
func under(form url.Values, at string) bool {
	for name := range form {
		if name == at || strings.HasPrefix(name, at+".") {
			return true
		}
	}
	return false
}
