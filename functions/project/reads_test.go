package project

import (
	"strings"
	"testing"
)

// TestTouchedByWhatIsRead is a table of repositories and of changes of what a plan reads beside the files of its directory. A file is
// NAME=TEXT, where BACKEND is a backend block; "-> TARGET" is a symbolic link. The project live/dev has the first text.
func TestTouchedByWhatIsRead(t *testing.T) {
	t.Parallel()
	const reads = "locals {\n  a = %\n}\n"
	for name, c := range map[string]struct {
		dev     string // an expression of live/dev, if it begins with "= "
		files   []string
		changes []string // in turn, each of the files as they are
		want    string   // what each touches, with a comma between
	}{
		"a linked file": {"", []string{"dev/main.tf=BACKEND", "dev/shared.tf=-> ../shared/shared.tf", "shared/shared.tf=#"},
			[]string{"shared/shared.tf=", "shared/shared.tf", "dev/shared.tf=-> ../shared/other.tf"}, "dev,dev,dev"},
		"all files are links": {"", []string{"a/main.tf=-> ../shared/main.tf", "shared/main.tf=BACKEND", "b/main.tf=-> nowhere.tf"}, []string{"shared/main.tf=BACKEND#"}, "a shared"},
		"a linked directory": {calls("./modules/m"), []string{"live/dev/modules=-> ../../mods", "mods/m/m.tf=#", "mods/m/x.txt=", "mods/n/n.tf=#"},
			[]string{"mods/m/m.tf=", "mods/m/x.txt=1", "mods/n/n.tf="}, "live/dev,live/dev,"},
		"a linked directory of files": {"#", []string{"live/dev/files=-> ../../shared", "shared/a.json=1", "other/a.json=1"}, []string{"shared/a.json=2", "shared/b.json=1", "other/a.json=2"}, "live/dev,live/dev,"},
		"a link as source": {calls("../../current"), []string{"current=-> mods/v1", "mods/v1/m.tf=#", "mods/v2/m.tf=# 2"},
			[]string{"current=-> mods/v2", "mods/v1/m.tf=", "mods/v2/m.tf="}, "live/dev,live/dev,"},
		"a linked tfvars": {"#", []string{"live/dev/a.auto.tfvars=-> ../../vars/a.tfvars", "vars/a.tfvars=a = 1"}, []string{"vars/a.tfvars=a = 2", "vars/a.tfvars"}, "live/dev,live/dev"},
		"a linked var_files": {"", []string{"net/main.tf=", "v.tfvars=-> vars/a.tfvars", "vars/a.tfvars=a = 1", FileName + "=project \"net\" {\n  dir = \"net\"\n  var_files = [\"v.tfvars\"]\n}\n"},
			[]string{"vars/a.tfvars=a = 2"}, "net"},
		"a linked project": {"", []string{"net=-> real/net", "real/net/main.tf=#", FileName + "=" + declare("net")}, []string{"real/net/main.tf="}, "net"},
		"linked projects of a pattern": {"", []string{"services/a/main.tf=#", "services/b=-> ../shared/b", "services/c=-> ../../away", "services/d=-> ../README", "README=", "shared/b/main.tf=#", FileName + "=project \"svc-*\" {\n  dir = \"services/*\"\n}\n"},
			[]string{"shared/b/main.tf=", "services/a/main.tf="}, "svc-b,svc-a"},
		"a pattern behind a link": {"", []string{"net/main.tf=", "docs=-> text/docs", "text/docs/a.md=1", FileName + "=project \"net\" {\n  dir = \"net\"\n  when_changed = [\"docs/*.md\"]\n}\n"},
			[]string{"text/docs/a.md=2", "text/x.md="}, "net,"},
		"links in a circle":   {"#", []string{"live/dev/self=-> .", "live/dev/up=-> ../..", "live/a=-> b", "live/b=-> a"}, []string{"live/dev/x=", "live/dev/self=-> up"}, "live/dev,live/dev"},
		"links that lead out": {"#", []string{"live/dev/x=-> ../../../etc/passwd", "live/dev/y=-> /etc/passwd"}, []string{"live/dev/x=-> ../../../etc/group", "y="}, "live/dev,"},
		"a function": {"= yamldecode(file(\"${path.module}/../../config/dev.yaml\")).size", []string{"config/dev.yaml=1", "config/x=1"},
			[]string{"config/dev.yaml=2", "config/dev.yaml", "config/x="}, "live/dev,live/dev,"},
		"without path.module":      {"= templatefile(\"../../t.tpl\", {})", []string{"t.tpl=1"}, []string{"t.tpl=2"}, "live/dev"},
		"a file that is not there": {"= fileexists(\"${path.root}/../flag\")", nil, []string{"live/flag="}, "live/dev"},
		"through locals": {"locals {\n  root = \"${path.module}/../..\"\n  dir = \"${local.root}/config\"\n}\noutput \"x\" {\n  value = file(\"${local.dir}/a\")\n}\n", []string{"config/a=1", "config/b=1"},
			[]string{"config/a=2", "config/b=2"}, "live/dev,"},
		"through a module": {"module \"m\" {\n  source = \"../../m\"\n  at = \"${path.module}/../../c/a\"\n}\n", []string{"m/m.tf=variable \"at\" {}\noutput \"x\" {\n  value = filesha256(var.at)\n}\n", "c/a=1", "c/b=1"},
			[]string{"c/a=2", "c/b=2"}, "live/dev,"},
		"the default of a module": {calls("../../m"), []string{"m/m.tf=variable \"at\" {\n  default = \"a\"\n}\noutput \"x\" {\n  value = file(\"${path.module}/../c/${var.at}\")\n}\n", "c/a=1", "c/b=1"},
			[]string{"c/a=2", "c/b=2"}, "live/dev,"},
		"a part is unknown": {"= file(\"${path.module}/../../config/app-${var.e}.yaml\")", []string{"config/app-dev.yaml=1", "other/x=1"},
			[]string{"config/app-dev.yaml=2", "config/app-new.yaml=", "other/x=2"}, "live/dev,live/dev,"},
		"all is unknown": {"= file(var.e)", []string{"x=1"}, []string{"x=2"}, "live/dev"},
		"a set of files": {"= fileset(\"../../config\", \"*.yaml\")", []string{"config/a.yaml=1", "other=1"}, []string{"config/b.yaml=", "config/a.yaml", "other=2"}, "live/dev,live/dev,"},
		"one of two":     {"= file(var.e ? \"../../a\" : \"../../b\")", []string{"a=1", "b=1", "c=1"}, []string{"a=2", "b=2", "c=2"}, "live/dev,live/dev,"},
		"joined":         {"= [file(join(\"/\", [path.module, \"..\", \"..\", \"a\"])), file(abspath(\"../../b\"))]", []string{"a=1", "b=1", "c=1"}, []string{"a=2", "b=2", "c=2"}, "live/dev,live/dev,"},
		"in JSON": {"", []string{"live/dev/main.tf.json={\"terraform\": {\"backend\": {\"s3\": {}}}, \"locals\": {\"a\": \"${file(\\\"${path.module}/../../a\\\")}\"}}", "a=1", "b=1"},
			[]string{"a=2", "b=2"}, "live/dev,"},
		"a provider reads it": {"data \"archive_file\" \"x\" {\n  source_dir = \"${path.module}/../../src\"\n}\n", []string{"src/a/b=1", "src2/a=1"},
			[]string{"src/a/b=2", "src/new=", "src2/a=2"}, "live/dev,live/dev,"},
		"a module from elsewhere reads it":      {"module \"m\" {\n  source = \"acme/m/aws\"\n  policy = \"${path.module}/../../p.json\"\n}\n", []string{"p.json=1"}, []string{"p.json=2"}, "live/dev"},
		"a template reads a file":               {"= templatefile(\"../../t.tpl\", {})", []string{"t.tpl=${file(\"x\")}", "x=1"}, []string{"x=2"}, "live/dev"},
		"a module that is called":               {calls("../../m"), []string{"m/m.tf=#", "m/data.json=1", "n/m.tf=#"}, []string{"m/m.tf=# 2", "m/data.json=2", "n/m.tf=# 2"}, "live/dev,live/dev,"},
		"a module moves":                        {calls("../../m"), []string{"m/m.tf=#"}, []string{"m/m.tf"}, "live/dev"},
		"nothing of the kind":                   {"= [\"file(${1})\", path.module]", []string{"x=1"}, []string{"x=2"}, ""},
		"out of the repository":                 {"= [file(\"../../../x\"), file(\"/etc/passwd\")]", []string{"x=1"}, []string{"x=2"}, ""},
		"a provider: abspath":                   {"data \"archive_file\" \"x\" {\n  source_dir = abspath(\"${path.module}/../../src\")\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: format":                    {"data \"archive_file\" \"x\" {\n  source_dir = format(\"%s/../../src\", path.module)\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: join":                      {"data \"archive_file\" \"x\" {\n  source_dir = join(\"/\", [path.module, \"..\", \"..\", \"src\"])\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: literal":                   {"data \"archive_file\" \"x\" {\n  source_dir = \"../../src\"\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: for_each":                  {"data \"archive_file\" \"x\" {\n for_each = toset([\"${path.module}/../../src\"])\n  source_dir = each.value\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: local list":                {"locals {\n dirs = { a = \"${path.module}/../../src\" }\n}\ndata \"archive_file\" \"x\" {\n for_each = local.dirs\n  source_dir = each.value\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: local attr":                {"locals {\n dirs = { a = \"${path.module}/../../src\" }\n}\ndata \"archive_file\" \"x\" {\n  source_dir = local.dirs.a\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: cond":                      {"data \"archive_file\" \"x\" {\n  source_dir = true ? \"${path.module}/../../src\" : \"\"\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: child module":              {"module \"m\" {\n  source = \"../../m\"\n  dir = \"${path.module}/../../src\"\n}\n", []string{"m/m.tf=variable \"dir\" {}\ndata \"archive_file\" \"x\" {\n  source_dir = var.dir\n}\n", "src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a provider: child module fn":           {"module \"m\" {\n  source = \"../../m\"\n  dir = \"${path.module}/../../src\"\n}\n", []string{"m/m.tf=variable \"dir\" {}\ndata \"archive_file\" \"x\" {\n  source_dir = \"${var.dir}/a\"\n}\n", "src/a/x=1"}, []string{"src/a/x=2"}, "live/dev"},
		"a provider: child module obj":          {"module \"m\" {\n  source = \"../../m\"\n  o = { dir = \"${path.module}/../../src\" }\n}\n", []string{"m/m.tf=variable \"o\" {}\ndata \"archive_file\" \"x\" {\n  source_dir = var.o.dir\n}\n", "src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: child module obj":          {"module \"m\" {\n  source = \"../../m\"\n  o = { f = \"${path.module}/../../src/a\" }\n}\n", []string{"m/m.tf=variable \"o\" {}\noutput \"x\" {\n value = file(var.o.f)\n}\n", "src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: json module args":          {"", []string{"live/dev/main.tf.json={\"terraform\": {\"backend\": {\"s3\": {}}}, \"module\": {\"m\": {\"source\": \"../../m\", \"f\": \"../../src/a\"}}}", "m/m.tf=variable \"f\" {\n default = \"x\"\n}\noutput \"x\" {\n value = file(var.f)\n}\n", "src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: override":                  {"module \"m\" {\n  source = \"../../m\"\n  f = \"../../src/a\"\n}\n", []string{"live/dev/main_override.tf=module \"m\" {\n  source = \"../../m\"\n}\n", "m/m.tf=variable \"f\" {\n default = \"x\"\n}\noutput \"x\" {\n value = file(var.f)\n}\n", "src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: local override":            {"locals {\n f = \"../../x\"\n}\noutput \"x\" {\n value = file(local.f)\n}\n", []string{"live/dev/a_override.tf=locals {\n f = \"../../src/a\"\n}\n", "src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: upper":                     {"output \"x\" {\n value = file(lower(\"../../SRC/A\"))\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: expand":                    {"output \"x\" {\n value = file([\"../../src/a\"]...)\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: fileset pattern up":        {"output \"x\" {\n value = fileset(path.module, \"../../src/*\")\n}\n", []string{"src/a=1"}, []string{"src/b=2"}, "live/dev"},
		"a function: fileset then file":         {"output \"x\" {\n value = [for f in fileset(path.module, \"../../src/*\") : file(\"${path.module}/${f}\")]\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: nested cond":               {"output \"x\" {\n value = file(true ? (false ? \"../../b\" : \"../../src/a\") : \"../../c\")\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: coalesce":                  {"output \"x\" {\n value = file(coalesce(null, \"../../src/a\"))\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function: heredoc":                   {"output \"x\" {\n value = <<EOT\n${file(\"../../src/a\")}\nEOT\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, "live/dev"},
		"a function of a provider":              {"output \"x\" {\n value = provider::local::direxists(\"${path.module}/../../src\")\n}\n", []string{"src/a=1"}, []string{"src/a"}, "live/dev"},
		"a provider: each in a path":            {"locals {\n  dirs = { src = 1 }\n}\ndata \"archive_file\" \"x\" {\n  for_each = local.dirs\n  source_dir = \"${path.module}/../../${each.key}\"\n}\n", []string{"src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a provider: each of a module":          {"module \"m\" {\n  source = \"../../m\"\n  for_each = toset([\"src\"])\n  dir = \"../../${each.value}\"\n}\n", []string{"m/m.tf=variable \"dir\" {}\ndata \"archive_file\" \"x\" {\n  source_dir = \"${var.dir}/a\"\n}\n", "src/a/x=1", "other/a=1"}, []string{"src/a/x=2", "other/a=2"}, "live/dev,"},
		"a provider: a module in a module":      {"module \"m\" {\n  source = \"../../m\"\n  dirs = { a = abspath(\"${path.module}/../../src\"), b = var.e }\n}\n", []string{"m/m.tf=variable \"dirs\" {}\nmodule \"n\" {\n  source = \"../n\"\n  dir = var.dirs.a\n}\n", "n/n.tf=variable \"dir\" {}\ndata \"archive_file\" \"x\" {\n  source_dir = \"${var.dir}/a\"\n}\n", "src/a/x=1", "other/a=1"}, []string{"src/a/x=2", "other/a=2"}, "live/dev,"},
		"a provider: a nested call":             {"data \"archive_file\" \"x\" {\n  source_dir = replace(trimspace(\"${abspath(path.module)}/../../src\"), \"x\", \"y\")\n}\n", []string{"src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a provider: dirname":                   {"data \"archive_file\" \"x\" {\n  source_dir = \"${dirname(dirname(abspath(path.module)))}/src\"\n}\n", []string{"src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a provider: a nested block":            {"resource \"x_y\" \"x\" {\n  dynamic \"z\" {\n    for_each = [\"../../src\"]\n    content {\n      dir = z.value\n    }\n  }\n}\n", []string{"src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a provider: a command":                 {"data \"external\" \"x\" {\n  program = [\"sh\", \"-c\", \"cd ${path.module}/../../src && cat a\"]\n}\n", []string{"src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a provider: the default of a variable": {"variable \"dir\" {\n  default = \"../../src\"\n}\ndata \"archive_file\" \"x\" {\n  source_dir = var.dir\n}\n", []string{"src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a provider: in JSON":                   {"", []string{"live/dev/main.tf.json={\"terraform\": {\"backend\": {\"s3\": {}}}, \"data\": {\"archive_file\": {\"x\": [{\"for_each\": {\"src\": 1}, \"source_dir\": \"../../${each.key}\"}]}}, \"data\": {}}", "src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a provider: the repository":            {"data \"archive_file\" \"x\" {\n  source_dir = \"${path.module}/../..\"\n  also = [\"../../\", \"./\", abspath(path.root), \"../../../x\", \"${path.module}/../../${var.e}\"]\n}\n", []string{"src/a=1"}, []string{"src/a=2"}, ""},
		"a module: the repository":              {"module \"m\" {\n  source = \"../../m\"\n  root = \"${path.module}/../..\"\n}\n", []string{"m/m.tf=variable \"root\" {}\ndata \"archive_file\" \"x\" {\n  source_dir = \"${var.root}/src\"\n}\n", "src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a module: an argument that is unknown": {"module \"m\" {\n  source = \"../../m\"\n  f = var.e\n}\n", []string{"m/m.tf=variable \"f\" {\n  default = \"x\"\n}\noutput \"x\" {\n  value = file(var.f)\n}\n", "other/a=1"}, []string{"other/a=2"}, "live/dev"},
		"a module: an override in JSON":         {"module \"m\" {\n  source = \"../../m\"\n  f = \"../../other/a\"\n}\n", []string{"live/dev/a_override.tf.json={\"module\": [{\"m\": {\"f\": \"../../src/a\"}}]}", "m/m.tf=variable \"f\" {}\noutput \"x\" {\n  value = file(var.f)\n}\n", "src/a=1", "other/a=1"}, []string{"src/a=2", "other/a=2"}, "live/dev,"},
		"a function: fileset of a part":         {"output \"x\" {\n  value = fileset(\"../..\", \"{src,lib}/../src/*\")\n}\n", []string{"src/a=1"}, []string{"src/b=2"}, "live/dev"},
		"a function: fileset below":             {"output \"x\" {\n  value = fileset(\"../..\", \"src/*\")\n}\n", []string{"src/a=1", "other/a=1"}, []string{"src/b=2", "other/b=2"}, "live/dev,"},
		"names in a circle":                     {"locals {\n  a = local.b\n  b = local.a\n  c = file(local.a)\n}\n", []string{"x=1"}, []string{"x=2"}, "live/dev"},
	} {
		if x, is := strings.CutPrefix(c.dev, "= "); is {
			c.dev = strings.Replace(reads, "%", x, 1)
		}
		if c.dev != "" {
			c.files = append(c.files, "live/dev/main.tf=BACKEND"+c.dev)
		}
		for i, f := range c.files {
			c.files[i] = strings.ReplaceAll(f, "BACKEND", backend)
		}
		files := with(map[string]string{}, c.files...)
		for i, change := range c.changes {
			want := strings.Split(c.want, ",")[i]
			if got := touchedBy(t, files, with(files, strings.ReplaceAll(change, "BACKEND", backend))); got != want {
				had, ds := Discover(linkedTree(t, files))
				t.Errorf("%s: %q touches %q, want %q; %+v %v", name, change, got, want, had.Projects, ds)
			}
		}
	}
}

// TestTouchedByWhatWasRead holds that what the plan of the base has read counts in place of what it may read.
func TestTouchedByWhatWasRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{"dev/main.tf": backend + "locals {\n  a = file(\"../config/${var.e}.yaml\")\n}\n", "config/dev.yaml": "1", "config/prod.yaml": "1", "x": "1"}
	had, _ := Discover(tree(files))
	read := []string{"config/dev.yaml"}
	in, err := Inputs(tree(files), had.Projects[0], read...)
	if err != nil {
		t.Fatal(err)
	}
	exact, former := FilesRead{read, in.Hash()}, FilesRead{[]string{"x"}, "of other files"}
	for _, test := range []struct {
		seen         []FilesRead
		change, want string
	}{
		{nil, "config/prod.yaml=2", "dev"},
		{[]FilesRead{exact}, "config/prod.yaml=2", ""},
		{[]FilesRead{exact}, "config/dev.yaml=2", "dev"},
		{[]FilesRead{former}, "config/prod.yaml=2", "dev"},
		{[]FilesRead{former}, "x=2", "dev"},
		{[]FilesRead{former, exact}, "x=2", ""},
		{[]FilesRead{exact}, "x=2", ""},
	} {
		now := tree(with(files, test.change))
		if got := touchedIn(t, tree(files), now, had.Projects, had.Projects, test.seen...); got != test.want {
			t.Errorf("%+v: %s touches %q", test.seen, test.change, got)
		}
	}
}
