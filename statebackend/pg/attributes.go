package pg

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Attributes are the attributes of a `backend "pg"` block: those of Terraform 1.11, and the two that only OpenTofu
// has. The environment can set each of them, too: PG_ and the attribute's name in capitals. What the connection
// string leaves out comes from the environment variables of PostgreSQL, such as PGHOST and PGPASSWORD.
var Attributes = []statebackend.Attribute{
	{Name: "conn_str", Type: statebackend.String, Secret: true},
	{Name: "index_name", Type: statebackend.String, Foreign: true},
	{Name: "schema_name", Type: statebackend.String},
	{Name: "skip_index_creation", Type: statebackend.Bool},
	{Name: "skip_schema_creation", Type: statebackend.Bool},
	{Name: "skip_table_creation", Type: statebackend.Bool},
	{Name: "table_name", Type: statebackend.String, Foreign: true},
}

// values has the values of a backend block, by the names of its attributes.
type values struct {
	Connection *string `json:"conn_str"`
	Schema     *string `json:"schema_name"`
	Table      *string `json:"table_name"`
	Index      *string `json:"index_name"`
	SkipSchema *bool   `json:"skip_schema_creation"`
	SkipTable  *bool   `json:"skip_table_creation"`
	SkipIndex  *bool   `json:"skip_index_creation"`
}

// settings are the checked values, with values from the environment and defaults in place of missing
// ones.
type settings struct {
	connection                       pq.Config
	schema, table, index             string
	skipSchema, skipTable, skipIndex bool
}

// settle checks the values of a block. It takes missing values from the environment.
func settle(v values) (s settings, err error) {
	s.schema = text("schema_name", v.Schema, "terraform_remote_state")
	s.table = text("table_name", v.Table, "states")
	s.index = text("index_name", v.Index, "states_by_name")
	for _, b := range []struct {
		name  string
		value *bool
		into  *bool
	}{
		{"skip_schema_creation", v.SkipSchema, &s.skipSchema},
		{"skip_table_creation", v.SkipTable, &s.skipTable},
		{"skip_index_creation", v.SkipIndex, &s.skipIndex},
	} {
		if *b.into, err = truth(b.name, b.value); err != nil {
			return s, err
		}
	}
	if s.connection, err = pq.NewConfig(text("conn_str", v.Connection, "")); err != nil {
		// The error quotes the text, which may contain a password.
		return s, &statebackend.AttributeError{Attribute: "conn_str", Problem: "it cannot be read, or a PG... environment variable cannot. Write postgres://USER@HOST:PORT/DATABASE, with special characters escaped as %40. Give the password in PGPASSWORD or in a password file"}
	}
	return s, nil
}

// text returns the value of an attribute: from the block, or else from the environment, or else the default,
// which is the parameter absent.
func text(name string, v *string, absent string) string {
	if v != nil && *v != "" {
		return *v
	}
	return cmp.Or(os.Getenv(variable(name)), absent)
}

func truth(name string, v *bool) (bool, error) {
	if v != nil {
		return *v, nil
	}
	given := os.Getenv(variable(name))
	if given == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(given)
	if err != nil {
		return false, &statebackend.AttributeError{Attribute: name, Problem: fmt.Sprintf("the environment variable %s must be true or false", variable(name))}
	}
	return b, nil
}

// variable returns the name of the environment variable for an attribute.
func variable(name string) string {
	return "PG_" + strings.ToUpper(name)
}

// place returns the address of the table. It has no user and no password.
func (s settings) place() string {
	host := s.connection.Host
	if s.connection.Hostaddr.IsValid() {
		host = s.connection.Hostaddr.String()
	}
	address := net.JoinHostPort(host, strconv.Itoa(int(s.connection.Port)))
	return fmt.Sprintf("postgres://%s/%s/%s.%s", address, s.connection.Database, s.schema, s.table)
}

// creationKeys are the keys of the advisory locks that the stock tools take while they add a workspace: Terraform's
// and OpenTofu's.
func (s settings) creationKeys() [2]int64 {
	h := fnv.New32()
	h.Write([]byte(s.schema + "\x00" + s.table))
	return [2]int64{-1, -int64(h.Sum32())}
}
