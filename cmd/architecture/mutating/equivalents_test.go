package mutating

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// onlyTells reports whether a call makes a text for people, or ends the process for a fault of
// ours, or only reserves room: a change in it is no fault that tests should look for.
func (f *finder) onlyTells(n *ast.CallExpr) bool {
	switch fun := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		return fun.Name == "panic" || fun.Name == "make"
	case *ast.SelectorExpr:
		switch fun.Sel.Name {
		case "Errorf", "Grow", "Note", "Helper":
			return true
		}
		pkg, ok := fun.X.(*ast.Ident)
		if !ok {
			return false
		}
		name, ok := f.info.Uses[pkg].(*types.PkgName)
		return ok && (slices.Contains([]string{"log", "log/slog", "errors"}, name.Imported().Path()) && fun.Sel.Name != "Is" && fun.Sel.Name != "As")
	}
	return false
}

// idle marks the zero values that a return gives beside an error, which nobody may read: 0, "" and
// false in return 0, "", false, err. Others may be meant for where the error is nil.
func (f *finder) idle(n *ast.ReturnStmt) {
	if len(n.Results) < 2 {
		return
	}
	last := ast.Unparen(n.Results[len(n.Results)-1])
	id, named := last.(*ast.Ident)
	t := f.info.TypeOf(last)
	if t == nil || named && id.Name == "nil" || !types.AssignableTo(t, types.Universe.Lookup("error").Type()) {
		return
	}
	for _, e := range n.Results {
		if slices.Contains([]string{"0", `""`, "false"}, f.text(e)) {
			f.beside[e] = true
		}
	}
}

// cleansUp reports whether a deferred call gives something back to the system, which tests
// rarely see.
func cleansUp(call *ast.CallExpr) bool {
	name := ""
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	}
	return slices.Contains([]string{"Close", "Stop", "Remove", "RemoveAll", "cancel", "stop"}, name)
}

func allBlank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_"
	})
}

// isDuration reports whether an expression is a time to wait for: how long is a matter of
// comfort.
func isDuration(info *types.Info, n ast.Expr) bool {
	t := info.TypeOf(n)
	return t != nil && t.String() == "time.Duration" && strings.Contains(types.ExprString(n), "time.")
}
