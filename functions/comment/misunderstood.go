package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Misunderstood is the reply that Lockstep could not read a command.
type Misunderstood struct{ Line grammar.Line }

func (m Misunderstood) markdown() string {
	p, help := m.Line.Problem, (Command{Verb: Help}).String()
	if p.Kind == grammar.Foreign {
		s := fmt.Sprintf("%s is a command of another program: **nothing was done**.", markdown.Code(m.Line.Text))
		switch m.Line.Suggestion {
		case "":
		case help:
			s += fmt.Sprintf(" To list the commands of Lockstep, comment %s.", markdown.Code(help))
		default:
			s += fmt.Sprintf(" In Lockstep, comment %s.", markdown.Code(m.Line.Suggestion))
		}
		return s
	}
	if p.Kind == grammar.Marked {
		return fmt.Sprintf("%s was **not done**: %s.", markdown.Code(m.Line.Text), misreadWords(p))
	}
	s := fmt.Sprintf("%s was **not understood**.", markdown.Code(m.Line.Text))
	if words := misreadWords(p); words != "" {
		s = fmt.Sprintf("%s was **not understood**: %s.", markdown.Code(m.Line.Text), words)
	}
	switch m.Line.Suggestion {
	case "":
		s += fmt.Sprintf(" To list all commands, comment %s.", markdown.Code(help))
	case help:
		s += fmt.Sprintf(" Write the corrected command in a new comment. To list all commands, comment %s.", markdown.Code(help))
	default:
		s += fmt.Sprintf(" Did you mean %s? Write the command in a new comment.", markdown.Code(m.Line.Suggestion))
	}
	return s
}

// Obeyed is the reply that a command for another program, such as Atlantis, is carried out as a command of
// Lockstep.
type Obeyed struct{ Line grammar.Line }

func (o Obeyed) markdown() string {
	return fmt.Sprintf("Lockstep read %s as %s.", markdown.Code(o.Line.Text), markdown.Code(o.Line.Command.String()))
}
