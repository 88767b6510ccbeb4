package demo

// about is the text of the first page, guide the text beside a conversation, both in Markdown.
const (
	about = "A small company, all of it in this process: its GitHub, its pull requests, and Lockstep, which plans and applies them with its own engine. Nothing leaves this machine, and everything that you do here happens for real."

	guide = "## To try\n\n" +
		"1. Read the plan, and comment `lockstep apply`. Watch the checks, and the state under *Projects*.\n" +
		"2. Try the same as mallory, who may only read.\n" +
		"3. Push a prepared change: Lockstep plans again.\n" +
		"4. Apply #3, and then #2: that would undo the changes of #3, and is refused. Merge #3, comment `lockstep plan` on #2, and apply it.\n" +
		"5. Merge #4: merging applies it.\n" +
		"6. `lockstep help` lists all commands. Mistype one.\n"
)
