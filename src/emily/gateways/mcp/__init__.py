"""The MCP server: the assistant's tools for any client, over stdio or HTTP."""
