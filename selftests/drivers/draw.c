// SPDX-License-Identifier: GPL-2.0-only
/*
 * draw - submits what OpenGL ES 3.1 has: clears, a draw with a query and transform feedback, a
 * blit, mipmaps, a compute shader, reads back. No window system is needed. Prints the renderer;
 * fails if it is not Intel's, or if OpenGL reports an error. Pixels are not compared: the software
 * pGPU draws nothing.
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 64
#define COMPUTED_FLOATS 256

static const char vertex_text[] = "#version 310 es\n"
				  "layout(location = 0) in vec4 position;\n"
				  "out vec4 place;\n"
				  "void main() { place = position; gl_Position = position; }\n";
static const char fragment_text[] =
	"#version 310 es\n"
	"precision highp float;\n"
	"uniform sampler2D picture;\n"
	"in vec4 place;\n"
	"out vec4 colour;\n"
	"void main() { colour = texture(picture, place.xy) + place; }\n";
static const char compute_text[] = "#version 310 es\n"
				   "layout(local_size_x = 64) in;\n"
				   "layout(std430, binding = 0) buffer data { float values[]; };\n"
				   "void main() { values[gl_GlobalInvocationID.x] += 1.0; }\n";

static void fail(const char *what)
{
	fprintf(stderr, "draw: %s: EGL error 0x%x\n", what, eglGetError());
	exit(1);
}

static void check(const char *what)
{
	GLenum error = glGetError();

	if (error) {
		fprintf(stderr, "draw: %s: OpenGL error 0x%x\n", what, error);
		exit(1);
	}
}

static void make_context(void)
{
	static const EGLint config_wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT,
						EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE };
	static const EGLint version[] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION,
					  1, EGL_NONE };
	EGLDisplay display =
		eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	EGLConfig config;
	EGLint found;
	EGLContext context;

	if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
		fail("no display");
	if (!eglBindAPI(EGL_OPENGL_ES_API) ||
	    !eglChooseConfig(display, config_wanted, &config, 1, &found) || !found)
		fail("no configuration");
	context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
	if (context == EGL_NO_CONTEXT ||
	    !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
		fail("no context");
}

static GLuint shader(GLenum kind, const char *text)
{
	GLuint name = glCreateShader(kind);
	GLint good;

	glShaderSource(name, 1, &text, NULL);
	glCompileShader(name);
	glGetShaderiv(name, GL_COMPILE_STATUS, &good);
	if (!good)
		fail("a shader does not compile");
	return name;
}

static void link_and_use(GLuint program)
{
	GLint good;

	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &good);
	if (!good)
		fail("a program does not link");
	glUseProgram(program);
}

static GLuint make_target(void)
{
	GLuint texture, target;

	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexStorage2D(GL_TEXTURE_2D, 3, GL_RGBA8, SIZE, SIZE);
	glGenFramebuffers(1, &target);
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		fail("the framebuffer is not complete");
	return target;
}

static void draw(void)
{
	static const float corners[] = { -1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1 };
	static const char *const captured[] = { "place" };
	static unsigned char pixels[SIZE * SIZE * 4];
	GLuint source = make_target(), target, program = glCreateProgram(), buffers[2], query;

	glClearColor(0.25, 0.5, 0.75, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glGenerateMipmap(GL_TEXTURE_2D);
	check("clear");

	glAttachShader(program, shader(GL_VERTEX_SHADER, vertex_text));
	glAttachShader(program, shader(GL_FRAGMENT_SHADER, fragment_text));
	glTransformFeedbackVaryings(program, 1, captured, GL_INTERLEAVED_ATTRIBS);
	link_and_use(program);
	glGenBuffers(2, buffers);
	glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffers[1]);
	glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, sizeof(corners), NULL, GL_STREAM_READ);
	target = make_target();
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glGenQueries(1, &query);
	glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
	glBeginTransformFeedback(GL_TRIANGLES);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glEndTransformFeedback();
	glEndQuery(GL_ANY_SAMPLES_PASSED);
	check("draw");

	glBindFramebuffer(GL_READ_FRAMEBUFFER, source);
	glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE / 2, SIZE / 2, GL_COLOR_BUFFER_BIT,
			  GL_LINEAR);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, target);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	glFinish();
	check("blit and read");
}

static void compute(void)
{
	GLuint program = glCreateProgram(), buffer;

	glAttachShader(program, shader(GL_COMPUTE_SHADER, compute_text));
	link_and_use(program);
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, COMPUTED_FLOATS * sizeof(float), NULL,
		     GL_DYNAMIC_COPY);
	glDispatchCompute(COMPUTED_FLOATS / 64, 1, 1);
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
	glFinish();
	check("compute");
}

int main(void)
{
	const char *renderer;

	make_context();
	renderer = (const char *)glGetString(GL_RENDERER);
	printf("%s; %s\n", renderer, glGetString(GL_VERSION));
	if (!renderer || !strstr(renderer, "Intel"))
		return 1;
	draw();
	compute();
	return 0;
}
