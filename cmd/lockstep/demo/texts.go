package demo

// about is what the first page says, guide what stands beside a conversation, in
// Markdown.
const (
	about = "A small company, all of it in this process: its GitHub, its pull requests, and Lockstep, which plans and applies them with its own engine. Nothing leaves this machine, and everything that you do here happens for real."

	guide = "## To try\n\n" +
		"1. Read the plan, and comment `lockstep apply`. Watch the checks, and the state under *Projects*.\n" +
		"2. Try the same as mallory, who may only read.\n" +
		"3. Push a prepared change: the plan is made anew.\n" +
		"4. Apply #3, and then #2: it would undo what #3 did, and is refused. Merge #3, comment `lockstep plan` on #2, and it goes.\n" +
		"5. Merge #4: what is merged is applied.\n" +
		"6. `lockstep help` lists all commands. Mistype one.\n"
)
