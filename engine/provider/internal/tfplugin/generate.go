package tfplugin

// Wants protoc (Debian: protobuf-compiler) and, on PATH,
// google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12.
//go:generate sh -c "cd ../../../.. && protoc -I . --go_out=. --go_opt=paths=source_relative engine/provider/internal/tfplugin/tfplugin.proto engine/provider/internal/tfplugin5/tfplugin5.proto engine/provider/internal/tfplugin6/tfplugin6.proto"
